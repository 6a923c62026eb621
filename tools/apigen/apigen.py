#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates from the public headers what must agree with them.

The headers under include/acl and include/pkg_inc are the only input. libclang reads them, so what is generated follows
the declarations themselves, not a copy of them:

  table     the functions as JSON: header, group, types, parameters, summary
  stubs     a weak definition of every function, which says that it is not implemented yet
  coverage  the page docs/coverage.md: what a built library implements
  states    the same as a table, which `canopy doctor` reads: name and state

The build runs `stubs` and `states`; people and the test command run the others. A group is the title of the section comment that a
declaration stands under.
"""

import argparse
import difflib
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = "python3-clang and libclang-dev (apt-get install python3-clang libclang-dev)"


class Failure(Exception):
    """A problem that is told to the user in one line."""


# ----------------------------------------------------------------------------------------------------------------------
# Reading the headers
# ----------------------------------------------------------------------------------------------------------------------


def library_version(path):
    """Sorts libraries by the version in their path, newest first."""
    return [int(number) for number in re.findall(r"\d+", path)]


def load_clang():
    """Returns clang.cindex with a libclang that works."""
    try:
        from clang import cindex
    except ImportError as error:
        raise Failure(f"the Python bindings of libclang are missing ({error}); install {PACKAGES}") from error
    candidates = [None]
    for pattern in ("/usr/lib/llvm-*/lib/libclang*.so*", "/usr/lib/*-linux-gnu/libclang*.so*"):
        found = [path for path in glob.glob(pattern) if "libclang-cpp" not in path and "grpc" not in path]
        candidates += sorted(found, key=library_version, reverse=True)
    for candidate in candidates:
        if candidate:
            cindex.Config.library_file = candidate
        try:
            cindex.Index.create()
            return cindex
        except (cindex.LibclangError, AttributeError):
            cindex.Config.loaded = False
    raise Failure(f"no usable libclang.so was found; install {PACKAGES}")


def compiler_headers():
    """Where gcc keeps stddef.h and its like, for a libclang that comes without its own."""
    try:
        found = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return ["-idirafter", found.stdout.strip()]


def section_titles(path):
    """Returns (line, title) of each section comment of a header."""
    with open(path, encoding="utf-8") as header:
        lines = header.read().splitlines()
    return [
        (number + 1, lines[number + 1].lstrip(" *").strip())
        for number, line in enumerate(lines[:-1])
        if re.match(r"/\* -{20,}", line)
    ]


def group_of(titles, path, line, function):
    group = None
    for start, title in titles:
        if start > line:
            break
        group = title
    if group is None:
        raise Failure(f"{path}:{line}: {function} stands under no section comment")
    return group


def summary_of(cursor):
    """The first sentence of the documentation comment."""
    text = " ".join((cursor.brief_comment or "").split())
    if not text:
        location = cursor.location
        raise Failure(f"{location.file.name}:{location.line}: {cursor.spelling} has no documentation comment")
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


def empty_value(cindex, result):
    """The C++ expression that a function without a body returns; "" for void, "error" for an error code."""
    if result.spelling in ("aclError", "rtError_t"):
        return "error"
    canonical = result.get_canonical()
    if canonical.kind == cindex.TypeKind.VOID:
        return ""
    if canonical.kind == cindex.TypeKind.POINTER:
        return "nullptr"
    if canonical.kind == cindex.TypeKind.ENUM:
        names = [value.spelling for value in canonical.get_declaration().get_children()]
        unknown = [name for name in names if name.endswith(("_UNDEFINED", "_NONE"))]
        return unknown[0] if unknown else f"static_cast<{result.spelling}>(0)"
    return "0"


def lower_folder(include):
    """The folder that programs of the lower interface search for headers."""
    return os.path.join(include, "pkg_inc")


def header_paths(include):
    """The headers with functions, the lower interface behind the other one."""
    lower = glob.glob(os.path.join(lower_folder(include), "runtime", "**", "*.h"), recursive=True)
    return sorted(glob.glob(os.path.join(include, "acl", "**", "*.h"), recursive=True)) + sorted(lower)


def program_name(include, path):
    """A header as programs include it."""
    lower = lower_folder(include) + os.sep
    path = os.path.normpath(path)
    return os.path.relpath(path, lower if path.startswith(lower) else include)


def describe_type(cindex, ctype):
    """Properties of a type beyond its name: what it is an alias of, and the values of an enumeration."""
    canonical = ctype.get_canonical()
    values = canonical.get_declaration().get_children() if canonical.kind == cindex.TypeKind.ENUM else []
    return {"canonical": canonical.spelling, "choices": [(value.spelling, value.enum_value) for value in values]}


def describe(cindex, cursor, include, titles):
    path = os.path.normpath(cursor.location.file.name)
    return {
        "name": cursor.spelling,
        "header": program_name(include, path),
        "group": group_of(titles[path], path, cursor.location.line, cursor.spelling),
        "returns": cursor.result_type.spelling,
        "result": describe_type(cindex, cursor.result_type),
        "parameters": [
            {"name": p.spelling, "type": p.type.spelling, **describe_type(cindex, p.type)} for p in cursor.get_arguments()
        ],
        "variadic": cursor.type.is_function_variadic(),
        "summary": summary_of(cursor),
        "deprecated": cursor.availability == cindex.AvailabilityKind.DEPRECATED,
        "empty_value": empty_value(cindex, cursor.result_type),
    }


def read_functions(include):
    """Returns the description of each function of the headers, in the order of their declaration."""
    cindex = load_clang()
    headers = header_paths(include)
    if not headers:
        raise Failure(f"{include}/acl holds no headers")
    titles = {header: section_titles(header) for header in headers}
    # The umbrella header comes first, so that the page begins with the base and the runtime.
    names = ["acl/acl.h"] + [program_name(include, header) for header in headers]
    source = "".join(f'#include "{name}"\n' for name in names)
    unit = cindex.Index.create().parse(
        "all.c",
        args=["-x", "c", "-std=c11", "-I", include, "-I", lower_folder(include)] + compiler_headers(),
        unsaved_files=[("all.c", source)],
    )
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise Failure("the headers do not compile:\n  " + "\n  ".join(errors[:10]))
    functions = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind != cindex.CursorKind.FUNCTION_DECL or cursor.location.file is None:
            continue
        # Declared only to report that it is not part of Canopy.
        if cursor.availability == cindex.AvailabilityKind.NOT_AVAILABLE:
            continue
        if os.path.normpath(cursor.location.file.name) in titles and cursor.spelling not in functions:
            functions[cursor.spelling] = describe(cindex, cursor, include, titles)
    return list(functions.values())


# ----------------------------------------------------------------------------------------------------------------------
# Writing
# ----------------------------------------------------------------------------------------------------------------------


def write(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as output:
        output.write(text)


def table_text(functions):
    public = [{key: value for key, value in f.items() if key not in ("empty_value", "result")} for f in functions]
    for function in public:
        function["parameters"] = [{"name": p["name"], "type": p["type"]} for p in function["parameters"]]
    return json.dumps({"functions": public}, indent=2) + "\n"


def stub_text(function):
    parameters = [p["type"] for p in function["parameters"]] + (["..."] if function["variadic"] else [])
    call = f'canopy::not_implemented("{function["name"]}")'
    if function["empty_value"] == "error":
        body = f"    return {call};\n"
    else:
        body = f"    static_cast<void>({call});\n"
        if function["empty_value"]:
            body += f"    return {function['empty_value']};\n"
    return f"CANOPY_WEAK {function['returns']} {function['name']}({', '.join(parameters)}) {{\n{body}}}\n"


def stubs_text(functions):
    headers = sorted({function["header"] for function in functions})
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Generated by tools/apigen from the public headers; do not edit. A weak definition of every function, which reports",
        "// that the function is not implemented yet. A definition elsewhere in the library replaces it at link time.",
    ]
    lines += [f'#include "{header}"' for header in headers]
    lines += ['#include "api/not_implemented.h"', "", "#define CANOPY_WEAK __attribute__((weak, visibility(\"default\")))"]
    lines += ["", 'extern "C" {', ""]
    return "\n".join(lines) + "\n" + "\n".join(stub_text(f) for f in functions) + "\n}\n"


# ----------------------------------------------------------------------------------------------------------------------
# Coverage
# ----------------------------------------------------------------------------------------------------------------------


def exported_symbols(library, nm):
    """Returns the symbol type of each exported symbol, as nm prints it."""
    if not os.path.exists(library):
        raise Failure(f"{library} does not exist; build the library first")
    try:
        listing = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    except OSError as error:
        raise Failure(f"cannot run {nm}: {error}; install binutils") from error
    except subprocess.CalledProcessError as error:
        raise Failure(f"{nm} cannot read {library}: {error.stderr.strip()}") from error
    symbols = {}
    for line in listing.stdout.splitlines():
        fields = line.split()
        if len(fields) == 3:
            symbols[fields[2].split("@")[0]] = fields[1]
    return symbols


def implemented_names(functions, library, nm):
    """Returns the names of the functions that have a strong definition."""
    symbols = exported_symbols(library, nm)
    missing = [f["name"] for f in functions if symbols.get(f["name"]) not in ("T", "W", "V")]
    if missing:
        raise Failure(f"{library} does not export {len(missing)} functions: {', '.join(missing[:8])}")
    return {f["name"] for f in functions if symbols[f["name"]] == "T"}


def coverage_text(functions, implemented):
    groups = {}
    for function in functions:
        groups.setdefault(function["group"], []).append(function)
    lines = [
        "# Coverage",
        "",
        "The functions of the interface and which of them are implemented. The others exist, return 207000",
        "(`ACL_ERROR_RT_FEATURE_NOT_SUPPORT`) or an empty value, and set an error message that says so (`aclGetRecentErrMsg`).",
        "",
        "This page is generated from the headers and the built library by `tools/apigen/apigen.py coverage`; do not edit it.",
        "",
        f"**{len(implemented)} of {len(functions)} functions are implemented.**",
        "",
        "| group | implemented | not yet | all |",
        "|---|---:|---:|---:|",
    ]
    for group, members in groups.items():
        done = sum(f["name"] in implemented for f in members)
        lines.append(f"| {group} | {done} | {len(members) - done} | {len(members)} |")
    for group, members in groups.items():
        lines += ["", f"## {group}", "", "| function | state | what it does |", "|---|---|---|"]
        for function in members:
            state = "implemented" if function["name"] in implemented else "not yet"
            summary = function["summary"].replace("|", "\\|")
            if function["deprecated"]:
                summary += " (deprecated)"
            lines.append(f"| `{function['name']}` | {state} | {summary} |")
    return "\n".join(lines) + "\n"


def states_text(functions, implemented):
    rows = [(f["name"], "implemented" if f["name"] in implemented else "not yet") for f in functions]
    return "name\tstate\n" + "".join(f"{name}\t{state}\n" for name, state in sorted(rows))


def check_page(path, text):
    """Fails when the page that is checked in differs from the one that would be generated."""
    try:
        with open(path, encoding="utf-8") as page:
            current = page.read()
    except FileNotFoundError:
        current = ""
    if current == text:
        return
    difference = difflib.unified_diff(current.splitlines(), text.splitlines(), path, "generated", n=0, lineterm="")
    shown = list(difference)[:24]
    raise Failure(f"{path} is stale; run the same command without --check. It begins to differ here:\n" + "\n".join(shown))


# ----------------------------------------------------------------------------------------------------------------------
# Commands
# ----------------------------------------------------------------------------------------------------------------------


def run_table(arguments):
    write(arguments.output, table_text(read_functions(arguments.include)))


def run_stubs(arguments):
    write(arguments.output, stubs_text(read_functions(arguments.include)))


def run_coverage(arguments):
    functions = read_functions(arguments.include)
    text = coverage_text(functions, implemented_names(functions, arguments.library, arguments.nm))
    if arguments.check:
        check_page(arguments.output, text)
    else:
        write(arguments.output, text)


def run_states(arguments):
    functions = read_functions(arguments.include)
    write(arguments.output, states_text(functions, implemented_names(functions, arguments.library, arguments.nm)))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Generates from the public headers what must agree with them.",
        epilog="Example: apigen.py coverage --library build/release/src/libascendcl.so",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, run, explanation, output):
        command = commands.add_parser(name, help=explanation, description=explanation)
        command.add_argument(
            "--include", default=os.path.join(ROOT, "include"), help="directory that holds acl/ and pkg_inc/ (default: %(default)s)"
        )
        command.add_argument("--output", default=output, help="file to write, - for standard output (default: %(default)s)")
        command.set_defaults(run=run)
        return command

    add("table", run_table, "write the functions as JSON", "-")
    add("stubs", run_stubs, "write a weak definition of every function as C++", "-")
    coverage = add(
        "coverage", run_coverage, "write which functions a library implements", os.path.join(ROOT, "docs", "coverage.md")
    )
    states = add("states", run_states, "write which functions a library implements, as a table", "-")
    for command in (coverage, states):
        command.add_argument("--library", required=True, help="the built library: strong symbols count as implemented")
        command.add_argument("--nm", default="nm", help="the program that lists symbols (default: %(default)s)")
    coverage.add_argument("--check", action="store_true", help="write nothing; fail when the page is stale")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    arguments.include = os.path.abspath(arguments.include)
    try:
        arguments.run(arguments)
    except Failure as failure:
        sys.exit(f"apigen: {failure}")


if __name__ == "__main__":
    main()
