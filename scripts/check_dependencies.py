#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom.

base <- device <- core <- api; a backend sees base and the headers of the waist; the toolchain, the tools, Python, the
conformance tests, the examples and the benchmarks see include/ only. No header includes itself by way of others, but
for two of the interface's own that programs may include in either order.

    scripts/check_dependencies.py [--root FOLDER]
"""
import argparse
import pathlib
import re
import sys

WAIST = ("src/device/command.h", "src/device/backend.h", "src/device/image.h", "src/device/fusion.h",
         "src/device/trace.h", "src/device/fused_list.h", "src/device/fused_module.h")
KERNEL_FORMAT = ("include/canopy/chips.h", "include/canopy/kernel_abi.h", "include/canopy/kernel_image.h",
                 "include/canopy/kernel_trace.h", "include/canopy/fusion_profile.h")

# Folder -> what its files may include, as prefixes of paths. The longest folder that holds a file decides; a folder may
# always include itself. What is not listed here is free: unit tests and toolchain tests look wherever they must.
RULES = {
    "include": ("include/",),
    "src/base": (),
    "src/fmt_library": (),
    "src/device": ("src/base/", *KERNEL_FORMAT),
    "src/device/null": ("src/base/", *WAIST, *KERNEL_FORMAT),
    "src/device/soft": ("src/base/", *WAIST, *KERNEL_FORMAT),
    "src/core": ("src/base/", *WAIST, "include/"),
    "src/api": ("src/base/", *WAIST, "src/core/", "include/"),
    "toolchain": ("include/",),
    "tools": ("include/", "toolchain/driver/lex.h", "toolchain/driver/process.h"),
    "python": ("include/",),
    "examples": ("include/", "toolchain/include/"),
    "bench": ("include/", "toolchain/include/"),
    "bench/micro": ("src/base/",),
    "tests/conformance": ("include/", "toolchain/include/"),
    "tests/interface": ("include/",),
}
# Any further backend is held to the rule of backends.
BACKEND = RULES["src/device/soft"]
SEARCH = ("src", "include", "include/pkg_inc", "toolchain/include", "toolchain/driver", "tests/conformance", "bench")
FORBIDDEN_FOLDERS = {"common", "utils", "util", "helpers", "misc"}
CYCLE_OF_THE_INTERFACE = {"include/acl/acl_rt.h", "include/acl/acl_rt_memory_soma.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def sources(root):
    for top in ("include", "src", "toolchain", "tools", "python", "examples", "bench", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".c") and path.is_file():
                yield path


def resolve(root, path, quoted, name):
    """The file of this repository that an include names; None when it is somebody else's."""
    folders = [path.parent] if quoted else []
    for folder in folders + [root / place for place in SEARCH]:
        candidate = folder / name
        if candidate.is_file():
            return candidate.resolve().relative_to(root).as_posix()
    return None


def rule_for(name):
    best = None
    for folder in RULES:
        if name.startswith(folder + "/") and (best is None or len(folder) > len(best)):
            best = folder
    if best == "src/device" and name.count("/") > 2:
        folder = "/".join(name.split("/")[:3])
        return folder, BACKEND
    return (best, RULES[best]) if best else (None, None)


def cycles(graph):
    found, state, trail = [], {}, []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for target in graph.get(node, ()):
            if state.get(target) == "open":
                found.append(trail[trail.index(target):] + [target])
            elif target not in state:
                visit(target)
        trail.pop()
        state[node] = "done"

    for node in sorted(graph):
        if node not in state:
            visit(node)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    problems, graph, count = [], {}, 0
    for path in sources(root):
        count += 1
        name = path.relative_to(root).as_posix()
        # Programs of the zoo name their folders as their authors would.
        if FORBIDDEN_FOLDERS & set(name.split("/")[:-1]) and not name.startswith("tests/zoo/"):
            problems.append(f"{name}: a folder for everything and nothing; give it the name of what it holds")
        folder, allowed = rule_for(name)
        targets = []
        for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
            target = resolve(root, path, match.group(1) == '"', match.group(2))
            if target is None:
                continue
            targets.append(target)
            if folder is None or target.startswith(folder + "/") and rule_for(target)[0] == folder:
                continue
            if not target.startswith(allowed):
                problems.append(f"{name}: may not include {target} (files of {folder}/ see "
                                f"{', '.join(allowed) or 'nothing else'})")
        graph[name] = targets
    for cycle in cycles(graph):
        if set(cycle) == CYCLE_OF_THE_INTERFACE:
            continue
        problems.append("cycle: " + " -> ".join(cycle))
    for problem in problems:
        print(problem)
    if problems:
        print(f"check_dependencies: {len(problems)} problems in {count} files", file=sys.stderr)
        return 1
    print(f"check_dependencies: {count} files keep the rule")
    return 0


if __name__ == "__main__":
    sys.exit(main())
