#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Provokes every message that docs/porting.md quotes, with a fresh install tree.

    porting_test.py <build folder> <folder to work in>
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BUILD, WORK = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/porting.md").read_text()
TREE = WORK / "tree"
BARE = {"PATH": "/usr/bin:/bin", "HOME": str(WORK), "LC_ALL": "C.UTF-8"}
PREPARED = {**BARE, "PATH": f"{TREE}/bin:{TREE}/ccec_compiler/bin:/usr/bin:/bin", "LD_LIBRARY_PATH": f"{TREE}/lib64",
            "PYTHONPATH": f"{TREE}/python/site-packages", "CMAKE_PREFIX_PATH": f"{TREE}/lib64/cmake"}

SOURCES = {
    "collective.asc": '#include "kernel_operator.h"\nusing namespace AscendC;\n'
                'extern "C" __global__ __aicore__ void k(GM_ADDR x) { Hccl<> group; }\n',
    "header.cpp": '#include "hccl/hccl.h"\n',
    "model.cpp": '#include "acl/acl.h"\nint main() { uint32_t id; return aclmdlLoadFromFile("a.om", &id); }\n',
    "collective.cpp": 'extern "C" int HcclGetRootInfo(void*);\nint main() { return HcclGetRootInfo(nullptr); }\n',
    "scale.asc": '#include "kernel_operator.h"\n#include "acl/acl.h"\n'
                 'extern "C" __global__ __vector__ void scale(GM_ADDR x) {}\n'
                 'int main() {\n    aclInit(nullptr);\n    aclrtSetDevice(0);\n    scale<<<1, nullptr, nullptr>>>(nullptr);\n'
                 '    return aclrtSynchronizeDevice() == 0 ? 0 : 1;\n}\n',
    "profile.cpp": '#include "acl/acl.h"\n#include "acl/acl_prof.h"\n#include <cstdio>\n'
                   'int main() {\n    aclInit(nullptr);\n    if (aclprofInit("x", 1) != 0) puts(aclGetRecentErrMsg());\n}\n',
    "project/CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nfind_package(ASC REQUIRED)\n",
}
FAST = "--targets=baseline --no-trace"
LINK = f"-I{TREE}/include -L{TREE}/lib64"
PROGRAMS = [f"g++ profile.cpp {LINK} -lascendcl -o profile", f"canopy-cc {FAST} --npu-arch=dav-3510 scale.asc -o scale"]

# A command for each message; "bare" ones run without set_env.sh.
CASES = [
    ('Could not find a package configuration file provided by "ASC"', "bare", "cmake -S project -B made"),
    ("bisheng: command not found", "bare", "bisheng --version"),
    ("error while loading shared libraries: libascendcl.so: cannot open shared object file", "bare",
     "./profile"),
    ("note: AscendC::Hccl is not supported by Canopy yet; devices of one process exchange data with aclrtMemcpy", "",
     "bisheng -c collective.asc -o collective.o"),
    ("note: hccl/hccl.h is not part of Canopy; devices of one process exchange data with aclrtMemcpy", "",
     "canopy-cc -c header.cpp -o header.o"),
    ("aclmdlLoadFromFile(...)’ is unavailable: Canopy runs kernels, not models", "", f"g++ -c {LINK} model.cpp -o model.o"),
    ("undefined reference to", "", f"g++ collective.cpp {LINK} -lhccl -o collective"),
    ("canopy-cc: error: unknown chip 'Ascend610'", "", "canopy-cc --npu-soc=Ascend610 -c collective.asc"),
    ("canopy-cc: error: unknown option '--no-such-option'", "", f"canopy-cc {FAST} --no-such-option -c scale.asc -o x.o"),
    ("warning: kernel 'scale' declares its core type, so the core type on the command line has no effect", "",
     f"canopy-cc {FAST} --cce-aicore-arch=dav-c220-cube -c scale.asc -o x.o"),
    ("canopy: kernel void scale(uint8_t *) was not launched: a kernel image for chip architecture 3510; this device is an "
     "Ascend910B1 of architecture 2201. Set CANOPY_CHIP=Ascend950PR_9599, which runs it, ...", "",
     "CANOPY_CHIP=Ascend910B1 ./scale"),
    ('canopy: CANOPY_DEVICE_COUNT="many" is not a number from 1 to 64; using 4', "", "CANOPY_DEVICE_COUNT=many ./profile"),
    ("AttributeError: module 'acl.mdl' has no attribute 'load_from_file': Canopy runs kernels, not models", "",
     "/usr/bin/python3 -c 'import acl; acl.mdl.load_from_file'"),
    ("ModuleNotFoundError: No module named 'torch_npu'", "", "/usr/bin/python3 -c 'import torch_npu'"),
    ("atc: command not found", "", "atc --version"),
]


class Messages(unittest.TestCase):
    def test_every_message_of_the_page_is_tried(self):
        section = PAGE.split("## Error messages and what to do")[1].split("\n## ")[0]
        first_cells = [row.split(" | ")[0] for row in section.splitlines()[4:] if row.startswith("| ")]
        quoted = [text for cell in first_cells for text in re.findall(r"`([^`]+)`", cell)]
        examples = {"HcclGetRootInfo", "atc", "msprof", "msopgen"}  # of what stands beside them
        messages = {text for text in quoted if text not in examples and "Ascend/..." not in text}
        self.assertEqual(messages, {message for message, _, _ in CASES})

    def test_messages_are_printed(self):
        for message, kind, command in CASES:
            with self.subTest(message=message):
                result = subprocess.run(["bash", "-c", command], cwd=WORK, env=BARE if kind else PREPARED, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
                words = " ".join(result.stdout.split())  # CMake wraps its lines
                for part in message.split("..."):
                    # The dots inside a name are printed as they are.
                    self.assertIn(part.strip(), words)

    def test_a_program_for_one_chip_needs_no_setting(self):
        result = subprocess.run(["./scale"], cwd=WORK, env=PREPARED, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        quiet = subprocess.run(["./scale"], cwd=WORK, env={**PREPARED, "CANOPY_CHIP": "Ascend910B1", "CANOPY_QUIET": "1"},
                               capture_output=True, text=True, check=False)
        self.assertEqual((quiet.returncode, quiet.stderr), (1, ""))


if __name__ == "__main__":
    shutil.rmtree(WORK, ignore_errors=True)
    subprocess.run(["cmake", "--install", BUILD, "--prefix", TREE], check=True, stdout=subprocess.DEVNULL)
    for name, text in SOURCES.items():
        (WORK / name).parent.mkdir(exist_ok=True)
        (WORK / name).write_text(text)
    for command in PROGRAMS:
        subprocess.run(["bash", "-c", command], cwd=WORK, env=PREPARED, check=True)
    unittest.main(argv=sys.argv[:1], verbosity=0)
