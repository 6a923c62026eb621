#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the compiler refuses every way from a device address to its memory, and takes the same line for a pointer:
so each line is refused because of the type. CTest runs it."""
import argparse
import os
import re
import subprocess
import sys

HEADERS = ["#include <cstring>", '#include "base/device_address.h"', '#include "device/device.h"',
           "using namespace canopy;", "struct Pair { int first; };"]
# A use of an address of type T, and the pointer type for which it compiles.
USES = [
    ("int dereference(T a) { return *a; }", "const int*"),
    ("int subscript(T a) { return a[0]; }", "const int*"),
    ("int follow(T a) { return a->first; }", "const Pair*"),
    ("const void* convert(T a) { return a; }", "const void*"),
    ("const int* cast(T a) { return static_cast<const int*>(a); }", "const void*"),
    ("const int* reinterpret(T a) { return reinterpret_cast<const int*>(a); }", "const void*"),
    ("const int* cast_like_c(T a) { return (const int*)a; }", "const void*"),
    ("void copy_from(T a, char* to) { std::memcpy(to, a, 8); }", "const void*"),
    ("void copy_to(T a, const char* from) { std::memcpy(a, from, 8); }", "void*"),
    ("void set(T a) { std::memset(a, 0, 8); }", "void*"),
    ("T make(const void* pointer) { return pointer; }", "const void*"),
    ("std::uintptr_t count(T a) { return a; }", "std::uintptr_t"),
]
# What the interface of devices hands out is such an address.
FIELDS = ["*value<Device&>().allocate(8, 0)", "*value<Device&>().map_host({})", "value<Device&>().find({})->base",
          "*value<VirtualMemory&>().reserve(8, 0, {})", "value<Kernel&>().address", "value<SymbolInfo&>().address",
          "value<SharedFile&>().range.base", "value<LaunchWork&>().arguments()", "value<CopyWork&>().source",
          "value<CopyWork&>().destination", "value<FillWork&>().destination", "value<ValueWork&>().address",
          "value<ConditionWork&>().selector", "value<JumpWork&>().index", "value<SwitchWork&>().left",
          "value<SwitchWork&>().right", "value<WordPreset&>().address", "value<TaskFailure&>().arguments"]
# What code above devices does with an address.
ALLOWED = [
    "DeviceAddress from_pointer(const void* pointer) { return device_address(pointer); }",
    "DeviceAddress next(DeviceAddress a) { return a + 8; }",
    "std::uintptr_t distance(DeviceAddress a, DeviceAddress b) { return b - a; }",
    "bool compare(DeviceAddress a, DeviceAddress b) { return a && a == b && !(a < b); }",
    "std::uintptr_t number(DeviceAddress a) { return a.value(); }",
    "Status read(std::uint64_t& word, DeviceAddress a) { return read_device(&word, a, sizeof word); }",
    "Status write(std::uint64_t& word, DeviceAddress a) { return write_device(a, &word, sizeof word); }",
    "const void* arguments(const LaunchWork& work) { return work.host_arguments(); }",
]


def compile_lines(arguments, lines):
    """The first error of each of these lines; fails if another place has one."""
    source = "\n".join(HEADERS + lines) + "\n"
    command = [arguments.compiler, "-x", "c++", "-std=c++20", "-fsyntax-only", *[f"-I{one}" for one in arguments.include], "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False,
                         env=dict(os.environ, LC_ALL="C"))
    errors = {}
    for place, line, text in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)$", run.stderr, re.M):
        if place != "<stdin>" or int(line) <= len(HEADERS):
            sys.exit(f"{place}:{line}: {text}")
        errors.setdefault(int(line) - len(HEADERS) - 1, text)
    if (run.returncode != 0) != bool(errors):
        sys.exit(run.stderr)
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    arguments = parser.parse_args()
    pointers = [re.sub(r"\bT\b", pointer, use) for use, pointer in USES]
    addresses = [re.sub(r"\bT\b", "DeviceAddress", use) for use, _ in USES]
    helper = "template <class T> T value();"
    fields = [helper] + [f"const void* field_{number}() {{ return {field}; }}" for number, field in enumerate(FIELDS)]
    problems = [f"refused: {lines[at]}: {text}" for lines in (pointers, ALLOWED)
                for at, text in compile_lines(arguments, lines).items()]
    for lines in (addresses, fields):
        errors = compile_lines(arguments, lines)
        problems += [f"compiles: {line}" for at, line in enumerate(lines) if at not in errors and line != helper]
        problems += [f"another error: {lines[at]}: {text}" for at, text in errors.items() if "DeviceAddress" not in text]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(USES) + len(FIELDS)} uses of device addresses as pointers are refused")


if __name__ == "__main__":
    main()
