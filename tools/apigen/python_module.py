#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the Python module acl from python/acl_functions.tsv and the public headers.

  binding   one C++ file per part of the module: the functions, their help texts and the method table
  stubs     one .pyi file per part, for type checkers and editors

The table says what Python sees: names, order, results. The headers say the C types, the values of enumerations and what a
function does. What does not agree is an error of the build. The tests of every function read the table through this file
too.
"""

import argparse
import os
import re
import sys

import apigen
from apigen import Failure

TABLE = os.path.join(apigen.ROOT, "python", "acl_functions.tsv")
PARTS = {
    "acl": "The runtime interface from Python: devices, memory, streams, kernels.\n\n"
    "Functions return a code, ret, or a tuple that ends in one; 0 is success. Arguments are positional. Where memory is\n"
    "meant, a function takes an address as an int, None for 0, or an object that shows contiguous memory: a numpy array,\n"
    "memoryview, bytearray, bytes to read from, __array_interface__ or __dlpack__. Python threads go on while a call waits.",
    "rt": "Devices, contexts, streams, events, notifies, memory, kernels and callbacks.",
    "tdt": "Queues, buffers and routes between threads and processes, and channels that carry tensors.",
    "util": "Addresses of Python objects, arrays over addresses, and threads for reports.",
    "prof": "Profiling.",
    "mdl": "Dumps.",
    "media": "Memory of media functions.",
    "op": "Single operators, of which there are none.",
}
# Kinds of arguments in the table: their type in the stubs and their description in the help.
KINDS = {
    "Text": ("str", "a text or a path"),
    "OptionalText": ("str | None", "a text or a path"),
    "Buffer": ("Buffer", "an address, or an object whose memory is written"),
    "Source": ("Buffer", "an address, or an object whose memory is read"),
    "Ignored": ("Any", "anything; not used"),
    "List": ("Sequence[int]", "a list of int"),
    "MallocConfig": ("dict[str, Any]", '{} or {"attrs": [{"attr": type, "value": n}], "numAttrs": n}'),
    "PhysicalProperties": (
        "dict[str, Any]",
        '{"handleType": n, "allocationType": n, "memAttr": n, "location": {"id": n, "type": n}, "reserve": 0}',
    ),
    "StreamAttribute": ("dict[str, Any]", "a dict with one entry"),
    "LoadOptions": ("list[dict[str, Any]]", '[] or [{"type": option, "value": n}]'),
    "LaunchConfig": ("list[dict[str, Any]]", '[] or [{"id": attribute, "value": n}]'),
    "PlaceHolders": ("list[Any]", '[] or [{"addrOffset": n, "dataOffset": n}]'),
    "UceList": ("list[dict[str, Any]]", '[{"addr": address, "len": n}]'),
    "FileDescriptor": ("int", "a file descriptor"),
    "Word": ("int", "int"),
    "EventHandle": ("bytes", "the 64 bytes of ipc_get_event_handle"),
    "ShareableHandle": ("int | bytes", "an int, or the 128 bytes of a fabric handle"),
    "ServerPids": ("list[dict[str, Any]]", '[{"sdid": n, "pid": [pids]}]'),
}
# Structures that are returned as a dict.
STRUCTURES = ("aclCANNPackageVersion", "aclrtUtilizationInfo", "aclrtUuid", "aclrtPtrAttributes")
# Structures that are returned as bytes.
OPAQUE = ("aclrtIpcEventHandle",)
INCLUDES = (
    "acl/acl.h",
    "acl/acl_prof.h",
    "acl/acl_rt_allocator.h",
    "acl/acl_tdt.h",
    "acl/acl_tdt_queue.h",
    "acl/acl_dump.h",
    "acl/ops/acl_dvpp.h",
)
# An output in the call column: its name, the type where the parameter is a void pointer, the room of a text.
OUTPUT = re.compile(r">(\w+)(?::([\w:]+))?(?:\[(\w+)\])?")


class Argument:
    """An argument of a Python function: its name, its kind and the bytes it must hold, as far as the table says them."""

    def __init__(self, text):
        self.optional = text.startswith("[")
        match = re.fullmatch(r"(\w+)(?::(Special .+|\w+))?(?:\[(.*)\])?", text[1:-1] if self.optional else text)
        if not match:
            raise Failure(f"{TABLE}: cannot read the argument {text!r}")
        self.name, self.kind, self.size = match.groups()
        self.special = None
        if self.kind and self.kind.startswith("Special "):
            self.special, self.kind = self.kind[len("Special ") :].replace(" or ", " | "), None
        self.ctype = self.canonical = None
        self.choices = []

    def settle(self, parameter):
        """Takes from the C parameter what the table leaves open."""
        self.ctype, self.canonical, self.choices = parameter["type"], parameter["canonical"], parameter["choices"]
        # A const that only matters to the callee.
        self.canonical = self.canonical.removesuffix("const")
        if not self.ctype.endswith("*"):
            self.ctype = self.ctype.removeprefix("const ")
        if self.kind is None:
            self.kind = kind_of(self.ctype, self.canonical)

    @property
    def reader(self):
        """The C++ class that reads it."""
        if self.kind in ("Number", "Handle"):
            return f"{self.kind}<{self.ctype}>"
        return f"List<{output_type(self.ctype)}>" if self.kind == "List" else self.kind

    @property
    def stub(self):
        if self.special:
            return self.special
        if self.kind in KINDS:
            return KINDS[self.kind][0]
        if self.kind == "Handle":
            return "int | None"
        return "float" if self.canonical in ("float", "double") else "int"

    @property
    def explanation(self):
        if self.special or self.kind is None:
            return self.stub
        if self.kind in KINDS:
            return KINDS[self.kind][1]
        if self.kind == "Handle":
            return "an address, or None" if self.ctype.startswith(("void", "const void")) else "a handle, or None"
        return "one of" if self.choices else self.stub


class Function:
    """A row of the table, with what the headers know about its C function."""

    def __init__(self, row, functions):
        self.name, arguments, returns, call, self.lock = row[:5]
        self.part, _, self.short = self.name.rpartition(".")
        self.part = self.part or "acl"
        self.full = "acl." + self.name
        self.symbol = f"{self.part}_{self.short}"
        self.arguments = [Argument(text) for text in split(arguments)]
        self.returns = [] if returns == "None" else split(returns)
        self.special = call.startswith("special")
        if self.lock not in ("held", "released"):
            raise Failure(f"{TABLE}: {self.name}: the lock is held or released, not {self.lock!r}")
        match = re.fullmatch(r"(?:special ?|(\w+) = )?(\w*)(?:\((.*)\))?", call)
        if not match:
            raise Failure(f"{TABLE}: {self.name}: cannot read the call {call!r}")
        self.result, self.target, passed = match.groups()
        self.passed = split(passed or "")
        self.header = functions.get(self.target)
        if self.target and not self.header:
            raise Failure(f"{TABLE}: {self.name}: the headers do not declare {self.target}")
        self.text = row[5] if len(row) > 5 else self.header["summary"]
        self.outputs = {}
        if not self.special:
            self.match_parameters()

    def argument(self, name):
        return next((argument for argument in self.arguments if argument.name == name), None)

    def match_parameters(self):
        parameters = self.header["parameters"]
        if len(parameters) != len(self.passed) and not self.header["variadic"]:
            raise Failure(f"{TABLE}: {self.name}: {self.target} takes {len(parameters)} parameters, not {len(self.passed)}")
        for parameter, passed in zip(parameters, self.passed):
            output = OUTPUT.fullmatch(passed)
            if output:
                if output[2]:
                    parameter = {**parameter, "type": output[2] + " *"}
                self.outputs[output[1]] = (parameter, output[3])
            elif self.argument(passed):
                self.argument(passed).settle(parameter)
        for argument in self.arguments:
            if argument.ctype is None and argument.kind is None:
                raise Failure(f"{TABLE}: {self.name}: {self.target} does not get {argument.name}")

    @property
    def least(self):
        return sum(not argument.optional for argument in self.arguments)


def split(text):
    """Splits at commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def kind_of(ctype, canonical):
    if ctype == "const char *":
        return "Text"
    if ctype in ("void *", "aclrtArgsHandle"):
        return "Buffer"
    if ctype == "const void *":
        return "Source"
    return "Handle" if canonical.endswith("*") else "Number"


def output_type(ctype):
    """What a pointer type points at."""
    match = re.fullmatch(r"(?:const )?(.*?) ?\*(?:const)?", ctype)
    if not match:
        raise Failure(f"{ctype} is not the type of an output")
    return match[1]


def read_table(include, path=TABLE):
    """The functions of the table, in its order."""
    functions = {function["name"]: function for function in apigen.read_functions(include)}
    with open(path, encoding="utf-8") as table:
        lines = [line.rstrip("\n") for line in table if not line.startswith("#")]
    return [Function(line.split("\t"), functions) for line in lines[1:]]


# ----------------------------------------------------------------------------------------------------------------------
# Help texts
# ----------------------------------------------------------------------------------------------------------------------


def parameters_text(function):
    names = [argument.name for argument in function.arguments if not argument.optional]
    names += [f"{argument.name}=None" for argument in function.arguments if argument.optional]
    return ", ".join(names + ["/"] if names else [])


def returns_text(function):
    names = [item.split(":")[0] for item in function.returns]
    if not names:
        return "None"
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def wrap(text, first, width=100):
    lines, line = [], first
    indent = " " * len(first)
    for word in text.split():
        if len(line) + len(word) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return lines + [line.rstrip()]


def help_text(function):
    """The text that help() shows, with the signature in the form that inspect understands."""
    parameters = parameters_text(function)
    lines = [f"{function.short}({'$module, ' + parameters if parameters else '$module, /'})", "--", ""]
    lines += wrap(function.text.replace("`", ""), "")
    lines.append("")
    width = max([len(argument.name) for argument in function.arguments] + [len("returns")])
    for argument in function.arguments:
        lines += wrap(argument.explanation, f"  {argument.name:{width}}  ")
        lines += [f"  {'':{width}}    {value}  {name}" for name, value in argument.choices]
    lines.append(f"  {'returns':{width}}  {returns_text(function)}")
    if function.target:
        lines += ["", f"The C function is {function.target}."]
    return "\n".join(lines)


def literal(text):
    """A C string, a line per line."""
    lines = text.split("\n")
    quoted = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return "\n    ".join(f'"{line}\\n"' for line in quoted[:-1]) + f'\n    "{quoted[-1]}"'


# ----------------------------------------------------------------------------------------------------------------------
# The binding
# ----------------------------------------------------------------------------------------------------------------------


def value_expression(function, passed, parameter):
    """What the C function gets for one entry of the call column."""
    output = OUTPUT.fullmatch(passed)
    if output:
        return f"{output[1]}.value" if output[3] else f"&{output[1]}"
    length = re.fullmatch(r"len\((\w+)\)", passed)
    if length:
        return f"static_cast<{parameter['type'].removeprefix('const ')}>({length[1]}.size)"
    argument = function.argument(passed)
    if not argument:
        return passed
    expression = f"{passed}.value"
    return f"const_cast<char*>({expression})" if parameter and parameter["type"] == "char *" else expression


def size_expression(function, text):
    return re.sub(r"[A-Za-z_]\w*", lambda m: f"{m[0]}.value" if function.argument(m[0]) else m[0], text)


def return_expression(function, item):
    name, _, kind = item.partition(":")
    if name.isdigit():
        return f"{name}u"
    if kind.startswith("Number<"):
        return f"static_cast<{kind[len('Number<'):-1]}>({name})"
    return f"{name}.value" if name not in function.outputs and function.argument(name) else name


def function_text(function):
    """The definition of a function that is not special."""
    lines = [f"PyObject* {function.symbol}(PyObject*, PyObject* const* given, Py_ssize_t given_count) {{"]
    lines.append(f'    const Call call{{"{function.full}", given, given_count}};')
    lines.append(f"    if (!call.takes({function.least}, {len(function.arguments)})) return nullptr;")
    for argument in function.arguments:
        lines.append(f"    {argument.reader} {argument.name};")
    for index, argument in enumerate(function.arguments):
        present = f"given_count > {index} && " if argument.optional else ""
        lines.append(f'    if ({present}!{argument.name}.read(call, {index}, "{argument.name}")) return nullptr;')
    for index, argument in enumerate(function.arguments):
        if argument.size:
            size = size_expression(function, argument.size)
            lines.append(f'    if (!{argument.name}.holds(call, {index}, "{argument.name}", {size})) return nullptr;')
    for name, (parameter, room) in function.outputs.items():
        if room is None:
            lines.append(f"    {output_type(parameter['type'])} {name}{{}};")
            continue
        source = function.argument(room)
        lines.append(f"    Room {name};")
        if source:
            index = function.arguments.index(source)
            lines.append(f'    if (!{name}.make(call, {index}, "{room}", {room}.value)) return nullptr;')
        else:
            lines.append(f"    static_assert({room} <= Room::limit);")
    parameters = function.header["parameters"] + [None] * len(function.passed)
    passed = ", ".join(value_expression(function, text, parameter) for text, parameter in zip(function.passed, parameters))
    call = f"{function.target}({passed})"
    call = call if function.lock == "held" else f"released([&] {{ return {call}; }})"
    nothing = function.header["returns"] == "void"
    lines.append(f"    {call};" if nothing else f"    const auto {function.result or 'ret'} = {call};")
    values = ", ".join(return_expression(function, item) for item in function.returns)
    lines.append("    Py_RETURN_NONE;" if not function.returns else f"    return answer({values});")
    return "\n".join(lines + ["}"])


def binding_text(part, functions):
    members = [function for function in functions if function.part == part]
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// Generated by tools/apigen/python_module.py from python/acl_functions.tsv and the headers: {part}. Do not edit.",
        *(f"#include <{name}>" for name in INCLUDES),
        "",
        '#include "special.h"',
        '#include "structures.h"',
        '#include "tables.h"',
        "",
        "namespace canopy::python {",
        "",
        "namespace {",
        "",
        "\n\n".join(function_text(function) for function in members if not function.special),
        "",
        "}  // namespace",
        "",
        f"PyMethodDef {part}_methods[] = {{",
    ]
    for function in members:
        lines.append(f'    {{"{function.short}", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&{function.symbol})),')
        lines.append(f"     METH_FASTCALL, {literal(help_text(function))}}},")
    lines += ["    {nullptr, nullptr, 0, nullptr},", "};", "", f"const char {part}_text[] = {literal(PARTS[part])};"]
    return "\n".join(lines + ["", "}  // namespace canopy::python", ""])


# ----------------------------------------------------------------------------------------------------------------------
# The type stubs
# ----------------------------------------------------------------------------------------------------------------------


def return_type(function, item):
    name, _, kind = item.partition(":")
    if kind and not kind.startswith("Number<"):
        return kind.replace(" or ", " | ")
    if name in function.outputs:
        parameter, room = function.outputs[name]
        if room:
            return "str"
        if output_type(parameter["type"]) in STRUCTURES:
            return "dict[str, Any]"
        if output_type(parameter["type"]) in OPAQUE:
            return "bytes"
        return "float" if parameter["canonical"] == "float *" else "int"
    if name == function.result and function.header:
        canonical = function.header["result"]["canonical"]
        if canonical == "const char *":
            return "str | None"
        return "float" if canonical in ("float", "double") else "int"
    return "int"


def stub_text(function):
    parameters = [f"{a.name}: {a.stub}" for a in function.arguments if not a.optional]
    for argument in function.arguments:
        if argument.optional:
            kind = argument.stub if "None" in argument.stub else argument.stub + " | None"
            parameters.append(f"{argument.name}: {kind} = ...")
    types = [return_type(function, item) for item in function.returns]
    result = "None" if not types else types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
    parameters = ", ".join(parameters + ["/"] if parameters else [])
    sentence = re.split(r"(?<=\.)\s", function.text.replace("`", ""), maxsplit=1)[0]
    return f'def {function.short}({parameters}) -> {result}:\n    """{sentence}"""\n'


def stubs_text(part, functions):
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Generated by tools/apigen/python_module.py; do not edit.",
        "from collections.abc import Callable, Sequence",
        "from typing import Any",
        "",
    ]
    if part == "acl":
        lines += ["from . import " + ", ".join(f"{name} as {name}" for name in sorted(PARTS) if name != "acl"), ""]
    lines += ["# An address, None, or an object that shows contiguous memory.", "Buffer = Any", ""]
    return "\n".join(lines) + "\n" + "\n".join(stub_text(f) for f in functions if f.part == part)


# ----------------------------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", default=os.path.join(apigen.ROOT, "include"), help="directory that holds acl/")
    parser.add_argument("--table", default=TABLE, help="the table of functions (default: %(default)s)")
    parser.add_argument("--binding", metavar="FOLDER", help="write functions_<part>.cpp into this folder")
    parser.add_argument("--stubs", metavar="FOLDER", help="write __init__.pyi and <part>.pyi into this folder")
    arguments = parser.parse_args()
    try:
        functions = read_table(os.path.abspath(arguments.include), arguments.table)
        for part in PARTS:
            if arguments.binding:
                apigen.write(os.path.join(arguments.binding, f"functions_{part}.cpp"), binding_text(part, functions))
            if arguments.stubs:
                name = "__init__.pyi" if part == "acl" else f"{part}.pyi"
                apigen.write(os.path.join(arguments.stubs, name), stubs_text(part, functions))
    except Failure as failure:
        sys.exit(f"python_module: {failure}")


if __name__ == "__main__":
    main()
