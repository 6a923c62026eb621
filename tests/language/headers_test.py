#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every name of toolchain/language/headers.tsv can be included, and brings what its row says.

    headers_test.py CANOPY_CC HEADERS_TSV
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER, TABLE = sys.argv[1], pathlib.Path(sys.argv[2])
ARCHITECTURES = ("2201", "2002", "3510")

# Kernel code that needs the declarations of each header.
USES = {
    "kernel_operator.h": "AscendC::TPipe pipe; AscendC::GlobalTensor<half> x; x.SetGlobalBuffer((__gm__ half*)gm);",
    "canopy_kernel/cube/matmul.h": "using Type = AscendC::MatmulType<AscendC::TPosition::GM, CubeFormat::ND, half>;"
                              "AscendC::Matmul<Type, Type, Type> product;",
    "canopy_kernel/vector/vector_types.h": "float4 four = make_float4(1, 2, 3, 4); *(__gm__ float*)gm = four.w;",
    "kernel_tiling/kernel_tiling.h": "TCubeTiling tiling; *gm = tiling.M;",
    "kernel_tiling/template_argument.h": "*gm = ASCENDC_TPL_8_BW;",
}


def rows():
    with open(TABLE, encoding="utf-8") as table:
        for line in list(table)[1:]:
            name, included, folders = line.rstrip("\n").split("\t")
            for folder in folders.split():
                yield (name if folder == "." else f"{folder}/{name}"), included


def compile_kernel(headers, body, architecture):
    """What the compiler says of a kernel file with these headers; empty when it compiles."""
    text = "".join(f'#include "{header}"\n' for header in headers)
    words = "__global__ void" if "float4" in body else "__global__ __aicore__ void"
    text += f'extern "C" {words} kernel(unsigned char* gm) {{ {body} }}\n'
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "kernel.cpp")
        source.write_text(text, encoding="utf-8")
        result = subprocess.run([COMPILER, "--image", "-O0", "--targets=native", f"--npu-arch=dav-{architecture}", str(source), "-o",
                                 str(source.with_suffix(".o"))], capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stderr or "failed"


class Headers(unittest.TestCase):
    maxDiff = None

    def test_all_of_them_in_one_kernel_file(self):
        for architecture in ARCHITECTURES:
            with self.subTest(architecture):
                self.assertEqual(compile_kernel([name for name, _ in rows()], USES["kernel_operator.h"], architecture), "")

    def test_each_kind_alone(self):
        last = {included: name for name, included in rows()}
        self.assertEqual(set(last), set(USES))
        for included, name in last.items():
            with self.subTest(name):
                self.assertEqual(compile_kernel([name], USES[included], "3510"), "")

    def test_no_name_twice(self):
        names = [name for name, _ in rows()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
