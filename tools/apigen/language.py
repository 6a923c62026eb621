#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates from the headers of the kernel language what must agree with them.

toolchain/language/names.tsv lists the names that kernels in the field use: kind, family, and how many of 502 kernel
files use each. The compiler reads the headers and tells which of them are declared:

  page         docs/kernel-language.md: every name, supported or not yet
  families     toolchain/language/families.txt: the names of each family that canopy-cc leaves out of a source that uses
               none of them, "family name" on each line
  unsupported  toolchain/language/unsupported.tsv: the others, which canopy-cc explains when a program uses one

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
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL_HEADERS = os.path.join(ROOT, "toolchain/include")
HOST_HEADERS = os.path.join(ROOT, "include")
CPU_FORM = os.path.join(ROOT, "toolchain/install/tikicpulib.h")
TABLE = os.path.join(ROOT, "toolchain/language/names.tsv")
PAGE = os.path.join(ROOT, "docs/kernel-language.md")
UNSUPPORTED = os.path.join(ROOT, "toolchain/language/unsupported.tsv")
FAMILY_NAMES = os.path.join(ROOT, "toolchain/language/families.txt")
ARCHITECTURES = (2201, 3510)
INSTRUCTIONS = "canopy::intrinsics::"
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
    """A problem to report to the user in one line."""


def read_table():
    with open(TABLE, encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table][1:]
    return [Name(name, kind, family, int(files)) for name, kind, family, files in rows]


# ----------------------------------------------------------------------------------------------------------------------
# Declarations in the headers
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
    return ["-x", "c++", "-std=c++17", "-fdeclspec", "-w", f"-D__NPU_ARCH__={architecture}", *includes]


SCOPES = {"NamespaceDecl", "CXXRecordDecl", "ClassTemplateDecl", "ClassTemplateSpecializationDecl", "EnumDecl",
          "ClassTemplatePartialSpecializationDecl", "LinkageSpecDecl", "FunctionTemplateDecl"}
TYPED = {"FunctionDecl", "CXXMethodDecl", "VarDecl", "EnumConstantDecl", "TypeAliasDecl", "TypedefDecl", "FieldDecl"}
INSIDE_TEMPLATE = {"CXXRecordDecl", "FunctionDecl", "CXXMethodDecl", "TypeAliasDecl", "VarDecl"}
SKIPPED = {"ParmVarDecl", "TemplateTypeParmDecl", "NonTypeTemplateParmDecl", "TemplateTemplateParmDecl", "UsingDecl"}


def name_in(kind, rest):
    """The declared name in a line of the syntax tree, or None."""
    rest = re.sub(r"^(?:parent 0x\w+ |prev 0x\w+ )*", "", rest)
    depth = 0
    for position, letter in enumerate(rest):  # the location: <...>
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
    """Names with their scopes, as "AscendC::Add", each with the files that declare it, and those marked unavailable."""
    tree = run_compiler([*flags(architecture), "-fsyntax-only", "-fno-color-diagnostics", "-Xclang", "-ast-dump", header])
    names, unavailable = collections.defaultdict(set), collections.Counter()
    declarations = collections.Counter()
    file = header  # the tree shows a file where it differs from that of the location before
    owners = []  # the declarations around a line: depth, name or None, whether it is a scope
    for line in tree.splitlines():
        match = re.match(r"^([| `-]*)(\w+) 0x[0-9a-f]+ ?(.*)$", line)
        if not match:
            continue
        prefix, kind, rest = match.groups()
        for file in re.findall(r"(?<![^ <])(/[^:<> ]+):\d+:\d+", rest) or [file]:
            pass
        depth = len(prefix)
        while owners and owners[-1][0] >= depth:
            owners.pop()
        if kind == "UnavailableAttr" and owners and owners[-1][1]:
            unavailable[owners[-1][1]] += 1
        if not kind.endswith("Decl"):
            continue
        name = None if kind in SKIPPED or kind == "LinkageSpecDecl" else name_in(kind, rest)
        scope = [part for _, part, is_scope in owners if part and is_scope]
        around = scope[-1] if scope else ""
        if name is None:
            owners.append((depth, around if kind in SCOPES else None, False))
            continue
        # A template contains the declaration of the same name.
        same = owners and owners[-1][1] and owners[-1][1].split("::")[-1] == name and kind in INSIDE_TEMPLATE
        whole = around if same else f"{around}::{name}" if around else name
        names[whole].add(file)
        declarations[whole] += not kind.endswith("TemplateDecl")
        owners.append((depth, whole, kind in SCOPES or kind in TYPED))
    return names, {name for name, count in unavailable.items() if count >= declarations[name]}


def macros(header, architecture):
    text = run_compiler([*flags(architecture), "-E", "-dM", header])
    return set(re.findall(r"^#define (\w+)", text, re.MULTILINE))


class Declared:
    """All names of the device and host headers."""

    def __init__(self):
        self.names, self.macros = set(), set()
        self.files = collections.defaultdict(set)  # of each name
        headers = [os.path.join(KERNEL_HEADERS, "kernel_operator.h")]
        headers += [path for path in (os.path.join(KERNEL_HEADERS, "canopy_kernel/cube/matmul.h"),
                                      os.path.join(KERNEL_HEADERS, "canopy_kernel/vector/vector_types.h"),
                                      os.path.join(HOST_HEADERS, "tiling/tiling_api.h"),
                                      os.path.join(HOST_HEADERS, "tiling/platform/platform_ascendc.h"),
                                      os.path.join(HOST_HEADERS, "register/tilingdata_base.h"),
                                      CPU_FORM) if os.path.exists(path)]
        # The same for every architecture, and slow to read.
        once = [os.path.join(HOST_HEADERS, "exe_graph/runtime/context.h")]
        bad = set()
        for architecture in ARCHITECTURES:
            for header in headers + once:
                found, unavailable = declared_names(header, architecture)
                self.names |= found.keys()
                for name, files in found.items():
                    self.files[name] |= files
                bad |= unavailable
                self.macros |= macros(header, architecture)
            once = []
        self.refused = bad  # declared by hand so that using one is an error
        self.names -= bad
        self.last = {}
        for name in self.names:
            self.last.setdefault(name.split("::")[-1], set()).add(name)

    def has(self, row):
        name = row.name
        if row.kind == "method":
            # These classes are a single class here, or a base with another name.
            behind = {"MatmulClientBase": "MatrixProduct", "MatmulImpl": "MatrixProduct", "MatmulService": "MatrixProduct",
                      "MatmulApiTilingBase": "MatmulTiling", "BaseGlobalTensor": "GlobalTensor",
                      "BaseLocalTensor": "LocalTensor"}
            owners = row.family.split(":", 1)[1].split("/")
            owners += [behind[owner] for owner in owners if owner in behind]
            return any(owner in place.split("::")[:-1] for place in self.last.get(name[1:], ()) for owner in owners)
        if name in self.macros or name == "__inline__":  # the latter is a compiler keyword
            return True
        # Programs define their tiling classes with this macro.
        if name.startswith("optiling::") and "BEGIN_TILING_DATA_DEF" in self.macros:
            return True
        if name == "KERNEL_TYPE_*":
            return "KERNEL_TYPE_AIV_ONLY" in self.last
        if name == "PIPE":
            return "PIPE_V" in self.last
        name = {"Reg::ReduceType": "ReduceType"}.get(name, name)  # the same type
        scopes = ("", "AscendC::", "AscendC::Simt::", "AscendC::Reg::", "AscendC::Te::", INSTRUCTIONS)
        return any(scope + name in self.names for scope in scopes)

    def instructions(self):
        """Functions that stand for one instruction of a core."""
        names = [name.removeprefix(INSTRUCTIONS) for name in self.names if name.startswith(INSTRUCTIONS)]
        return sorted(name for name in names if re.match(r"^[a-z]\w*$", name) and not name.endswith("_t"))


# ----------------------------------------------------------------------------------------------------------------------
# Families that a source may go without
# ----------------------------------------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^ *# *include "(canopy_kernel/[^"]+)"', re.MULTILINE)


def read_header(name):
    with open(os.path.join(KERNEL_HEADERS, name), encoding="utf-8") as header:
        return header.read()


def included_by(names):
    """These headers and all that they include."""
    reached, open_names = set(), list(names)
    while open_names:
        name = open_names.pop()
        if name not in reached:
            reached.add(name)
            open_names += INCLUDE.findall(read_header(name))
    return reached


def family_headers():
    """For each family of kernel_operator.h, the headers that are its own: not those of families that it needs."""
    text = read_header("kernel_operator.h")
    optional = re.compile(r"#ifndef CANOPY_WITHOUT_(\w+)\n(.*?)#endif\n", re.DOTALL)
    always = included_by(INCLUDE.findall(optional.sub("", text)))
    first = {family.lower(): INCLUDE.findall(lines) for family, lines in optional.findall(text)}
    reached = {family: included_by(headers) - always for family, headers in first.items()}
    return {family: headers.difference(*(reached[other] for other in first
                                         if other != family and headers.issuperset(first[other])))
            for family, headers in reached.items()}


# Names of other headers that announce an overload of a basic function in a family.
ANNOUNCING = {"registers": ("MaskReg", "RegTensor"), "sorting": ("Sort", "SortConfig"), "layout": ("ConfusionTransposeTiling",)}


def family_names(declared):
    """Names that a program writes to use a family: those of namespaces and macros, not what they contain."""
    families = family_headers()
    owners = collections.defaultdict(set)
    for family, headers in families.items():
        for header in headers:
            owners[os.path.join(KERNEL_HEADERS, header)].add(family)
    rows = {(family, name) for family, names in ANNOUNCING.items() for name in names}
    for name, files in declared.files.items():
        path = name.removeprefix(INSTRUCTIONS).removeprefix("AscendC::").split("::")
        # A name that is declared outside of all families too says nothing.
        if len(path) == 1 and path[0] not in {"canopy", "AscendC", *OF_USERS} and all(file in owners for file in files):
            rows |= {(family, path[0]) for file in files for family in owners[file]}
    for family, headers in families.items():
        for text in map(read_header, headers):
            macros = set(re.findall(r"^ *# *define (\w+)", text, re.MULTILINE))
            macros -= set(re.findall(r"^ *# *undef (\w+)", text, re.MULTILINE))
            rows |= {(family, macro) for macro in macros if not macro.startswith("CANOPY_")}
    return "".join(f"{family} {name}\n" for family, name in sorted(rows))


# ----------------------------------------------------------------------------------------------------------------------
# The page
# ----------------------------------------------------------------------------------------------------------------------


def family_of(row):
    return row.family.split(":")[0]


# Why a name is not there.
OWN = "the program's own function; the library has none for programs to call"
REASONS = {"Process": OWN, "CopyOut": OWN, "Init": OWN}


def page(rows, declared):
    supported = {row: declared.has(row) for row in rows}
    by_family = collections.OrderedDict((family, []) for family in FAMILIES)
    for row in rows:
        by_family[family_of(row)].append(row)
    lines = [
        "# Supported names of the kernel language",
        "",
        "<!-- Generated by tools/apigen/language.py from the headers; do not edit. -->",
        "",
        f"The names that {FILES} public kernel files use, by family, with the number of files that use each. Supported names are",
        "declared by the headers. If a program uses another name, `canopy-cc` adds a note to the compiler's error.",
        "`share/canopy/unsupported.tsv` in the install tree lists the unsupported names and headers, one per line: name, kind,",
        "family and advice, separated by tabs. A header name that ends in `/` means all headers below that folder.",
        "`share/canopy/headers.tsv` lists the headers that kernels may include besides `kernel_operator.h`: the name, what it",
        "includes, and its folders.",
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
            state = "supported" if supported[row] else REASONS.get(row.name.lstrip("."), "not yet")
            lines.append(f"| `{row.name.lstrip('.')}` | {row.kind}{where} | {row.files} | {state} |")
        if family == "intrinsic":
            lines += ["", *INSTRUCTION_TEXT, "", *wrapped(declared.instructions())]
    return "\n".join(lines) + "\n"


INSTRUCTION_TEXT = """\
These instructions can be used by their own names, besides `set_flag`, `wait_flag`, `pipe_barrier`, `dcci`,
`get_block_idx` and `get_block_num`. Parameters are in the order of architecture 2201: destination, sources, a number,
repeats, block strides, repeat strides. The last call of `set_vector_mask`, `set_mask_norm` or `set_mask_count` selects
the elements that a vector instruction touches. An address in a core's memory is a pointer from `GetPhyAddr`, or a byte
offset into that memory: `(__ubuf__ half*)get_imm(256)`. You can pass such an offset to instructions but not dereference
it. Reductions into a register (`vcadd` with a last argument of 1) and modes 1 and 2 of `vsel` fail the task with a
message that says so.""".splitlines()


def wrapped(names):
    return textwrap.wrap(", ".join(f"`{name}`" for name in names) + ".", 120, break_on_hyphens=False)


# ----------------------------------------------------------------------------------------------------------------------
# The table of missing names
# ----------------------------------------------------------------------------------------------------------------------

SEE_PAGE = "docs/kernel-language.md lists what is"

OPERATORS = "operator projects are built with the npu_op_ functions of find_package(ASC); docs/install-tree.md shows how"

# Advice by family.
ADVICE = {
    "adv": "compose it from basic vector functions, which docs/kernel-language.md lists",
    "reg": "write it with vector functions on local tensors, such as Add and Exp",
    "c-api": "use the function of namespace AscendC with the same purpose",
    "tensor-api": "use LocalTensor and GlobalTensor with DataCopy, LoadData and Mmad",
    "host-tiling": "compute the tiling in the program itself",
    "operator": OPERATORS,
}

# Namespace aliases.
NAMESPACES = {"AscendC::MicroAPI": "reg"}

MODELS = "models and graphs of operators are not run; launch the kernels, or capture their launches into a graph"
COLLECTIVES = "devices of one process exchange data with aclrtMemcpy"
IN_ONE_HEADER = "include kernel_operator.h, which has the functions of this folder"
# Names outside of the table that programs may know, and that are not there.
LACKING = [("AscendC::Hccl", "class", "collective", COLLECTIVES), ("AscendC::HcclHandle", "class", "collective", COLLECTIVES)]
HEADERS = [
    ("acl/ops/", "operator", "write the step as a kernel or as host code"),
    ("aclnnop/", "operator", "only some operators of this kind are there; write this one as a kernel"),
    ("exe_graph/", "operator", OPERATORS),
    ("ge/", "model", MODELS),
    ("graph/", "model", MODELS),
    ("hccl/", "collective", COLLECTIVES),
    ("adv_api/hccl/", "collective", COLLECTIVES),
    ("lib/hccl/", "collective", COLLECTIVES),
    ("op_proto.h", "operator", OPERATORS),
    ("parser/", "model", MODELS),
    ("register/", "operator", OPERATORS),
    ("torch/", "torch", "install PyTorch and add its include folders"),
    ("torch_npu/", "torch", "load the kernels with the Python package canopy"),
    *((f"{folder}/{part}/", "adv", IN_ONE_HEADER) for folder in ("adv_api", "lib") for part in (
        "activation", "filter", "index", "math", "normalization", "pad", "quantization", "reduce", "select", "sort",
        "transpose")),
]

# Names that programs commonly define themselves, so a missing one is an error in the program.
OF_USERS = {"Process", "CopyOut", "Init", "Shape", "Coord", "Stride", "Layout"}


def places(row, missing):
    """Where the name of a row is looked for: "AscendC::Gelu". Empty for one that is the program's own business."""
    family, path = family_of(row), row.name.split("::")
    if row.name in OF_USERS or path[0] == "optiling" or not re.match(r"^\.?\w+(::\w+)*$", row.name):
        return []
    if row.kind == "method":
        if row.name[1:] in OF_USERS:
            return []
        return [f"AscendC::{owner}::{row.name[1:]}" for owner in row.family.split(":", 1)[1].split("/")]
    if row.kind == "enumerator" and path[0] in missing:
        return []  # its enumeration is missing
    if path[0] in ("AscendC", "gert"):
        return [row.name]
    everywhere = family in ("c-api", "simt", "type", "keyword", "macro", "intrinsic", "builtin") and len(path) == 1
    return [row.name if everywhere else f"AscendC::{row.name}"]


def unsupported(rows, declared):
    absent = [row for row in rows if not declared.has(row)]
    missing = {row.name.split("::")[-1] for row in absent if row.kind != "enumerator"}
    names = collections.OrderedDict()
    for row in absent:
        for place in places(row, missing):
            names.setdefault(place, (row.kind, "operator" if place.startswith("gert::") else family_of(row)))
    for name, (kind, family) in list(names.items()):
        scope = name.rpartition("::")[0] if kind != "method" else ""
        if scope and scope not in declared.names and scope not in names:
            names[scope] = ("namespace", family)
    for name, family in NAMESPACES.items():
        if name not in declared.names:
            names[name] = ("namespace", family)
    lines = ["name\tkind\tfamily\tadvice"]
    lines += [f"{name}\t{kind}\t{family}\t{ADVICE.get(family, SEE_PAGE)}" for name, (kind, family) in sorted(names.items())]
    lines += ["\t".join(row) for row in LACKING]
    lines += [f"{name}\theader\t{family}\t{advice}" for name, family, advice in HEADERS]
    return "\n".join(lines) + "\n"


# ----------------------------------------------------------------------------------------------------------------------


def put(path, text, check):
    """Writes a generated file, or compares it: 1 if it is not current."""
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
        print(f"{shown} is not current: run tools/apigen/{os.path.basename(sys.argv[0])}", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{os.path.relpath(path, ROOT)} written")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["page", "unsupported", "families", []], help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    options = parser.parse_args()
    try:
        rows, declared = read_table(), Declared()
        status = 0
        texts = {
            "families": (FAMILY_NAMES, lambda: family_names(declared)),
            "unsupported": (UNSUPPORTED, lambda: unsupported(rows, declared)),
            "page": (PAGE, lambda: page(rows, declared)),
        }
        for what in options.what or texts:
            path, text = texts[what]
            status |= put(path, text(), options.check)
        return status
    except Failure as failure:
        print(f"language.py: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
