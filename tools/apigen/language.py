#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates from the headers of the kernel language what must agree with them.

toolchain/language/names.tsv lists the names that kernels in the field use: kind, family, and how many of 502 kernel
files use each. The compiler reads the headers and tells which of them are declared:

  page         docs/kernel-language.md: every name, supported or not yet
  unsupported  canopy_kernel/unsupported.h: the others, declared so that using one is an error that names it

With --check nothing is written; a file that is not current is an error.
"""

import argparse
import collections
import difflib
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL_HEADERS = os.path.join(ROOT, "toolchain/include")
HOST_HEADERS = os.path.join(ROOT, "include")
TABLE = os.path.join(ROOT, "toolchain/language/names.tsv")
PAGE = os.path.join(ROOT, "docs/kernel-language.md")
UNSUPPORTED = os.path.join(KERNEL_HEADERS, "canopy_kernel/unsupported.h")
ARCHITECTURES = (2201, 3510)
FILES = 502

FAMILIES = {
    "keyword": "Words",
    "builtin": "Built-in variables",
    "intrinsic": "Instructions",
    "type": "Number types",
    "macro": "Macros",
    "base": "Vector and cube basics",
    "std": "AscendC::Std",
    "adv-matmul": "Matrix product",
    "host-tiling": "Host libraries: tiling and platform",
    "simt": "SIMT",
    "method": "Methods",
    "enumerator": "Enumerators",
    "adv": "High-level vector operations",
    "reg": "Register programming (AscendC::Reg)",
    "c-api": "C interface (asc_*)",
    "tensor-api": "Tensor interface (AscendC::Te)",
}

Name = collections.namedtuple("Name", "name kind family files")


class Failure(Exception):
    """A problem that is told to the user in one line."""


def read_table():
    with open(TABLE, encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table][1:]
    return [Name(name, kind, family, int(files)) for name, kind, family, files in rows]


# ----------------------------------------------------------------------------------------------------------------------
# What the headers declare
# ----------------------------------------------------------------------------------------------------------------------


def find_compiler():
    for name in [f"clang++-{version}" for version in range(25, 15, -1)] + ["clang++"]:
        if shutil.which(name):
            return name
    raise Failure("no clang++ of version 16 or newer was found; install clang-19")


def run_compiler(arguments):
    result = subprocess.run([find_compiler(), *arguments], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failure(f"the headers do not compile:\n{result.stderr[:2000]}")
    return result.stdout


def flags(architecture):
    includes = [f"-I{path}" for path in (KERNEL_HEADERS, HOST_HEADERS)]
    return ["-x", "c++", "-std=c++17", "-fdeclspec", "-w", f"-D__NPU_ARCH__={architecture}", "-DCANOPY_WITHOUT_UNSUPPORTED", *includes]


SCOPES = {"NamespaceDecl", "CXXRecordDecl", "ClassTemplateDecl", "ClassTemplateSpecializationDecl", "EnumDecl",
          "ClassTemplatePartialSpecializationDecl", "LinkageSpecDecl", "FunctionTemplateDecl"}
TYPED = {"FunctionDecl", "CXXMethodDecl", "VarDecl", "EnumConstantDecl", "TypeAliasDecl", "TypedefDecl", "FieldDecl"}
INSIDE_TEMPLATE = {"CXXRecordDecl", "FunctionDecl", "CXXMethodDecl", "TypeAliasDecl", "VarDecl"}
SKIPPED = {"ParmVarDecl", "TemplateTypeParmDecl", "NonTypeTemplateParmDecl", "TemplateTemplateParmDecl", "UsingDecl"}


def name_in(kind, rest):
    """The declared name in a line of the syntax tree, or None."""
    rest = re.sub(r"^(?:parent 0x\w+ |prev 0x\w+ )*", "", rest)
    depth = 0
    for position, letter in enumerate(rest):  # the place: <...>
        depth += (letter == "<") - (letter == ">")
        if depth == 0:
            rest = rest[position + 1:]
            break
    words = rest.split("'")[0].split() if kind in TYPED else rest.split(" identifier")[0].split()
    words = [word for word in words if not re.match(r"(line|col|.*\.h):\d|<", word)]
    if kind == "EnumDecl":
        words = rest.split("'")[0].split()
    words = [word for word in words if word not in ("definition", "inline", "nested", "implicit", "used", "referenced",
                                                    "constexpr", "class", "struct", "union", "explicit_specialization")]
    words = [word for word in words if not re.match(r"(line|col):\d", word) and ":" not in word]
    return words[-1] if words and re.match(r"^[A-Za-z_~]\w*$", words[-1]) else None


def declared_names(header, architecture):
    """Names with their scopes, as "AscendC::Add", and those that are marked unavailable."""
    tree = run_compiler([*flags(architecture), "-fsyntax-only", "-fno-color-diagnostics", "-Xclang", "-ast-dump", header])
    names, unavailable = set(), set()
    owners = []  # the declarations around a line: depth, name or None, whether it is a scope
    for line in tree.splitlines():
        match = re.match(r"^([| `-]*)(\w+) 0x[0-9a-f]+ ?(.*)$", line)
        if not match:
            continue
        prefix, kind, rest = match.groups()
        depth = len(prefix)
        while owners and owners[-1][0] >= depth:
            owners.pop()
        if kind == "UnavailableAttr" and owners and owners[-1][1]:
            unavailable.add(owners[-1][1])
        if not kind.endswith("Decl"):
            continue
        name = None if kind in SKIPPED or kind == "LinkageSpecDecl" else name_in(kind, rest)
        scope = [part for _, part, is_scope in owners if part and is_scope]
        around = scope[-1] if scope else ""
        if name is None:
            owners.append((depth, around if kind in SCOPES else None, False))
            continue
        # Inside a template stands the declaration of the same name.
        same = owners and owners[-1][1] and owners[-1][1].split("::")[-1] == name and kind in INSIDE_TEMPLATE
        whole = around if same else f"{around}::{name}" if around else name
        names.add(whole)
        owners.append((depth, whole, kind in SCOPES or kind in TYPED))
    return names, unavailable


def macros(header, architecture):
    text = run_compiler([*flags(architecture), "-E", "-dM", header])
    return set(re.findall(r"^#define (\w+)", text, re.MULTILINE))


class Declared:
    """All names of the device and host headers."""

    def __init__(self):
        self.names, self.macros = set(), set()
        headers = [os.path.join(KERNEL_HEADERS, "kernel_operator.h")]
        headers += [path for path in (os.path.join(KERNEL_HEADERS, "lib/matmul_intf.h"),
                                      os.path.join(HOST_HEADERS, "tiling/tiling_api.h"),
                                      os.path.join(HOST_HEADERS, "tiling/platform/platform_ascendc.h"),
                                      os.path.join(HOST_HEADERS, "register/tilingdata_base.h")) if os.path.exists(path)]
        bad = set()
        for architecture in ARCHITECTURES:
            for header in headers:
                found, unavailable = declared_names(header, architecture)
                self.names |= found
                bad |= unavailable
                self.macros |= macros(header, architecture)
        self.refused = bad  # declared by hand so that using one is an error
        self.names -= bad
        self.last = {}
        for name in self.names:
            self.last.setdefault(name.split("::")[-1], set()).add(name)

    def has(self, row):
        name = row.name
        if row.kind == "method":
            # The classes behind these names are one class here, or a base with another name.
            behind = {"MatmulClientBase": "MatrixProduct", "MatmulImpl": "MatrixProduct", "MatmulService": "MatrixProduct",
                      "MatmulApiTilingBase": "MatmulTiling"}
            owners = row.family.split(":", 1)[1].split("/")
            owners += [behind[owner] for owner in owners if owner in behind]
            return any(owner in place.split("::")[:-1] for place in self.last.get(name[1:], ()) for owner in owners)
        if name in self.macros or name == "__inline__":  # the latter is the compiler's own word
            return True
        if name == "KERNEL_TYPE_*":
            return "KERNEL_TYPE_AIV_ONLY" in self.last
        if name == "PIPE":
            return "PIPE_V" in self.last
        return any(place in self.names for place in (name, f"AscendC::{name}", f"AscendC::Simt::{name}"))


# ----------------------------------------------------------------------------------------------------------------------
# The page
# ----------------------------------------------------------------------------------------------------------------------


def family_of(row):
    return row.family.split(":")[0]


def page(rows, declared):
    supported = {row: declared.has(row) for row in rows}
    by_family = collections.OrderedDict((family, []) for family in FAMILIES)
    for row in rows:
        by_family[family_of(row)].append(row)
    lines = [
        "# The kernel language: what is supported",
        "",
        "<!-- Generated by tools/apigen/language.py from the headers; do not edit. -->",
        "",
        f"Every name that {FILES} public kernel files use, by family, with the number of files that use it. A name is",
        "supported when the headers declare it; using another one is an error at compile time that names it.",
        "",
        f"**{sum(supported.values())} of {len(rows)} names are supported.**",
        "",
        "| family | supported | of |",
        "|---|---|---|",
    ]
    for family, members in by_family.items():
        lines.append(f"| {FAMILIES[family]} | {sum(supported[row] for row in members)} | {len(members)} |")
    for family, members in by_family.items():
        lines += ["", f"## {FAMILIES[family]}", "", "| name | kind | files | |", "|---|---|---|---|"]
        for row in members:
            where = f" of {row.family.split(':')[1].replace('/', ', ')}" if ":" in row.family else ""
            state = "supported" if supported[row] else "not yet"
            lines.append(f"| `{row.name.lstrip('.')}` | {row.kind}{where} | {row.files} | {state} |")
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------------------------------------------------------------
# Declarations of what is not there
# ----------------------------------------------------------------------------------------------------------------------

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Names of the kernel language that are not supported yet, declared so that using one is an error that names it.
// Generated by tools/apigen/language.py; do not edit.
#ifndef CANOPY_KERNEL_UNSUPPORTED_H
#define CANOPY_KERNEL_UNSUPPORTED_H

// clang-format off
#define CANOPY_UNSUPPORTED(name) __attribute__((unavailable(name " is not supported by Canopy yet")))
#define CANOPY_UNSUPPORTED_FUNCTION(name, spelled)                                    \\
    template <class... Any> CANOPY_UNSUPPORTED(spelled) int name(Any&&...);           \\
    template <auto first, auto... rest, class... Any> CANOPY_UNSUPPORTED(spelled) int name(Any&&...);       \\
    template <class A, auto first, auto... rest, class... Any> CANOPY_UNSUPPORTED(spelled) int name(Any&&...); \\
    template <class A, class B, auto first, auto... rest, class... Any> CANOPY_UNSUPPORTED(spelled) int name(Any&&...);
"""

# Names that programs give their own functions and types; declared here, they would be ambiguous there.
OF_USERS = {"Process", "CopyOut", "Init", "Shape", "Coord", "Stride", "Layout"}

PLAIN_CLASS = re.compile(r"(Params|Param|Config|Info|Para|Trait|Default|Info|Ptn|Policy|Mode|Reg|ForStore|ForLoad)$")


def declaration(row, name, spelled):
    if row.kind == "func":
        return f'CANOPY_UNSUPPORTED_FUNCTION({name}, "{spelled}")'
    if row.kind == "enum":
        return f'enum class CANOPY_UNSUPPORTED("{spelled}") {name};'
    if row.kind == "class" and not PLAIN_CLASS.search(name):
        return f'template <class... Any> struct CANOPY_UNSUPPORTED("{spelled}") {name};'
    if row.kind in ("class", "alias", "type"):
        return f'struct CANOPY_UNSUPPORTED("{spelled}") {name};'
    if row.kind == "const":
        return f'CANOPY_UNSUPPORTED("{spelled}") inline constexpr int {name} = 0;'
    return None


def unsupported(rows, declared):
    places = collections.OrderedDict()
    for row in rows:
        family = family_of(row)
        if declared.has(row) or row.name in OF_USERS or family not in ("base", "adv", "reg", "tensor-api", "c-api", "simt", "std", "adv-matmul", "type"):
            continue
        path = row.name.split("::")
        scope = "" if family in ("c-api", "simt", "type") and len(path) == 1 else "AscendC"
        scope = "::".join([part for part in (scope, *path[:-1]) if part])
        spelled = "::".join([part for part in (scope, path[-1]) if part])
        line = declaration(row, path[-1], spelled)
        if spelled not in declared.refused and line and re.match(r"^\w+$", path[-1]):
            places.setdefault(scope, collections.OrderedDict())[path[-1]] = line
    text = HEAD
    for scope, lines in places.items():
        text += "\n"
        text += f"namespace {scope} {{\n" if scope else ""
        text += "".join(f"{line}\n" for line in lines.values())
        text += f"}}  // namespace {scope}\n" if scope else ""
    return text + "// clang-format on\n\n#endif\n"


# ----------------------------------------------------------------------------------------------------------------------


def put(path, text, check):
    current = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            current = file.read()
    if current == text:
        return 0
    if check:
        shown = os.path.relpath(path, ROOT)
        difference = difflib.unified_diff(current.splitlines(), text.splitlines(), shown, "generated", lineterm="", n=0)
        print("\n".join(list(difference)[:40]))
        print(f"{shown} is not current: run tools/apigen/language.py", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{os.path.relpath(path, ROOT)} written")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["page", "unsupported", []], help="default: both")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    options = parser.parse_args()
    try:
        rows, declared = read_table(), Declared()
        status = 0
        for what in options.what or ["unsupported", "page"]:
            text = page(rows, declared) if what == "page" else unsupported(rows, declared)
            status |= put(PAGE if what == "page" else UNSUPPORTED, text, options.check)
        return status
    except Failure as failure:
        print(f"language.py: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
