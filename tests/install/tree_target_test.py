#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the target canopy_tree makes everything that an installation copies out of the build folder.

    tree_target_test.py <build folder, made for ninja>

The other tests install from a folder in which everything was built, and would not see what the target leaves out.
"""
import pathlib
import re
import sys

BUILD = pathlib.Path(sys.argv[1]).resolve()


def paths(text):
    """The files of one side of a rule, as ninja writes them."""
    words = re.findall(r"(?:\$.|[^\s$])+", text)
    return [BUILD / re.sub(r"\$(.)", r"\1", word.replace("${cmake_ninja_workdir}", "")) for word in words
            if set(word) != {"|"}]


def rules(file):
    """For every file that can be made: all that is made with it, and what that is made from."""
    made = {}
    for outputs, inputs in re.findall(r"^build ((?:\$.|[^:$])+):((?:\$.|[^\n$])*)", file.read_text().replace("$\n", ""),
                                      re.M | re.S):
        together = paths(outputs)
        sources = paths(inputs)[1:]  # the first word is the rule's name
        made.update(dict.fromkeys(together, (together, sources)))
    return made


def reached(made, target):
    """What building a target makes or needs."""
    found, ahead = set(), [target]
    while ahead:
        path = ahead.pop()
        if path not in found:
            found.add(path)
            together, sources = made.get(path, ((), ()))
            ahead += [*together, *sources]
    return found


def installed(script):
    """The paths in the build folder that an installation script and those that it includes speak of."""
    for path in map(pathlib.Path, re.findall(r'"(/[^"$]*)"', script.read_text())):
        if path.name == "cmake_install.cmake":
            yield from installed(path)
        elif BUILD in path.parents:
            yield path


made = rules(BUILD / "build.ninja")
wanted = {path for path in installed(BUILD / "cmake_install.cmake") if path in made}
assert {BUILD / "src/libascendcl.so", BUILD / "tools/canopy"} <= wanted, f"not understood: only {wanted} is installed"
missing = sorted(map(str, wanted - reached(made, BUILD / "canopy_tree")))
for path in missing:
    print(f"canopy_tree does not make {path}: see toolchain/install/CMakeLists.txt")
print(f"{len(wanted)} files are made and installed")
sys.exit(1 if missing else 0)
