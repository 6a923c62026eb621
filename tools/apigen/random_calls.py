#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the calls that the random programs of tests/language choose from.

toolchain/language/vector_calls.tsv has a row for each overload of a vector function: its chips, the set of element
types, and its parameters. toolchain/language/element_types.tsv lists the types of each set on each chip; where the
sources have another type than the destination, as "destination/source". Rows with the interpreter "-" are those of an
element-wise function: the parameters say what a call passes. Other rows name the interpreter that chooses the operands;
it is used with each type of the set.

  tests/language/random_calls_CHIP.h    the calls of a chip

The headers of the language must take the types of each element-wise function and, where all operands have one type, no
other number type. Each pair of types occurs with one overload, and each overload with some types, so that the programs
stay small enough to compile. With --check nothing is written; a file that is not current is
an error.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

import language

SIGNATURES = os.path.join(language.ROOT, "toolchain/language/vector_calls.tsv")
TYPES = os.path.join(language.ROOT, "toolchain/language/element_types.tsv")
PROGRAMS = os.path.join(language.ROOT, "tests/language")
CHIPS = ("2201", "3510")

Signature = collections.namedtuple("Signature", "name chips types interpreter parameters")

# What a call passes for a parameter: its text, and what is written for it. Tensors are counted.
ARGUMENTS = [
    (r"LocalTensor<uint8_t>& sharedTmpBuffer", "scratch()"),
    (r"LocalTensor<T>& dst\w*", "dst()"),
    (r"LocalTensor<[TU]>& src\w*", "src{}()"),
    (r"const uint64_t mask\[\]", "bits()"),
    (r"uint64_t mask", "lanes()"),
    (r"uint8_t repeatTime", "repeats()"),
    (r"UnaryRepeatParams& \w+", "unary()"),
    (r"BinaryRepeatParams& \w+", "binary()"),
    (r"RoundMode& \w+", "rounding()"),
    (r"u?int32_t&? (count|calCount|dataSize)", "count()"),
    (r"[TU]&? \w+", "scalar()"),
    (r"float& scalarValue", "number()"),
]


def read(path):
    with open(path, encoding="utf-8") as table:
        return [line.rstrip("\n").split("\t") for line in table]


def read_signatures():
    rows = [Signature(*cells) for cells in read(SIGNATURES)[1:]]
    for name in {row[0] for row in read(TYPES)[1:]} - {row.types for row in rows}:
        raise language.Failure(f"no function has the set of types \"{name}\"")
    for row, count in collections.Counter(rows).items():
        if count > 1:
            raise language.Failure(f"{row.name}: the row ({row.parameters}) occurs twice")
    return rows


def read_types(chip):
    """The sets: pairs of the destination's and the sources' type."""
    heading, *rows = read(TYPES)
    column = heading.index(chip)
    return {row[0]: [(each.split("/")[0], each.split("/")[-1]) for each in row[column].split()] for row in rows}


def arguments_of(signature):
    result, sources = [], 0
    for parameter in signature.parameters.split(", "):
        parameter = parameter.strip()
        for pattern, argument in ARGUMENTS:
            if re.fullmatch(f"(const )?{pattern}", parameter):
                break
        else:
            raise language.Failure(f"{signature.name}: no argument is known for the parameter \"{parameter}\"")
        result.append(argument.format(sources))
        sources += argument.startswith("src")
    return result


def callable_with(arguments, types):
    """Whether the bits of a mask stand for single elements: there are 128."""
    return "bits()" not in arguments or any(each not in ("int8_t", "uint8_t", "bool") for each in types)


def chosen_calls(overloads, types):
    """Pairs of types and arguments: every pair of types and every overload occurs."""
    chosen = []
    for number, pair in enumerate(types):
        fitting = [each for each in overloads if callable_with(each, pair)]
        if not fitting:
            raise language.Failure(f"no overload takes {pair}")
        chosen.append((pair, fitting[number % len(fitting)]))
    for number, overload in enumerate(overloads):
        if all(arguments != overload for _, arguments in chosen):
            fitting = [pair for pair in types if callable_with(overload, pair)]
            if fitting:
                chosen.append((fitting[number % len(fitting)], overload))
    return sorted(chosen, key=lambda call: types.index(call[0]))


def calls_of(chip):
    everywhere = read_signatures()
    signatures = [row for row in everywhere if chip in row.chips.split(",")]
    sets = read_types(chip)
    text = ["// SPDX-License-Identifier: Apache-2.0", f"// The calls of random programs for chip {chip}.",
            "// Made by tools/apigen/random_calls.py; do not edit.",
            "// No include guard: each file that includes it has its own macros."]
    elementwise = collections.defaultdict(list)
    interpreted = collections.defaultdict(list)
    for row in signatures:
        if row.types not in sets:
            raise language.Failure(f"{row.name}: {TYPES} has no set \"{row.types}\"")
        if row.interpreter == "-":
            elementwise[row.name, row.types].append(arguments_of(row))
        else:
            if interpreted[row.interpreter] and interpreted[row.interpreter][0].types != row.types:
                raise language.Failure(f"{row.interpreter}: the rows name different types")
            interpreted[row.interpreter].append(row)
    missing = {row.name for row in everywhere if row.interpreter == "-"} - {name for name, _ in elementwise}
    text += [""] * bool(missing) + [f"LACKING({name})" for name in sorted(missing)]
    for (name, types), overloads in elementwise.items():
        text.append("")
        for (to, source), arguments in chosen_calls(overloads, sets[types]):
            text.append(f"CALL({name}, {to}, {source}, {', '.join(arguments)})")
    for interpreter, rows in interpreted.items():
        text.append("")
        text += [f"NAMED({interpreter}, {name})" for name in dict.fromkeys(row.name for row in rows)]
        text += [f"INTERPRETED({interpreter}, {to})" for to, _ in sets[rows[0].types]]
    return "\n".join(text) + "\n"


# Stands for the operands of a call where only the types matter.
OPERANDS = """#include <kernel_operator.h>
template <class D, class S>
struct Operands {
    AscendC::LocalTensor<D> dst() const;
    AscendC::LocalTensor<S> src0() const, src1() const, src2() const;
    AscendC::LocalTensor<uint8_t> scratch() const;
    S scalar() const;
    float number() const;
    uint32_t count() const;
    uint64_t lanes() const;
    const uint64_t* bits() const;
    uint8_t repeats() const;
    AscendC::UnaryRepeatParams unary() const;
    AscendC::BinaryRepeatParams binary() const;
    AscendC::RoundMode rounding() const;
};
"""


def check_types(chip):
    """Compares the sets of types with what the headers take: one line for each call, and the lines with errors."""
    sets, listed, calls = read_types(chip), collections.defaultdict(set), {}
    rows = [row for row in read_signatures() if chip in row.chips.split(",") and row.interpreter == "-"]
    for row in rows:
        listed[row.name].update(sets[row.types])
    numbers = sorted({each for pairs in sets.values() for pair in pairs for each in pair} - {"bool"})
    text = OPERANDS
    for row in {row.name: row for row in rows}.values():
        arguments = ", ".join("o." + each for each in arguments_of(row))
        others = [] if "<U>" in row.parameters else [(each, each) for each in numbers]
        for to, source in listed[row.name].union(others):
            calls[text.count("\n") + 1] = row.name, (to, source)
            text += f"inline void call(Operands<{to}, {source}> o, char (&)[{len(calls)}]) "
            text += f"{{ AscendC::{row.name}({arguments}); }}\n"
    command = [language.find_compiler(), *language.flags(chip), "-fsyntax-only", "-ferror-limit=0",
               "-ftemplate-backtrace-limit=0", "-fno-color-diagnostics", "-"]
    messages = subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr
    refused = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: (?:error|note: in inst)", messages, re.MULTILINE)}
    for line, (name, pair) in calls.items():
        if (pair in listed[name]) == (line in refused):
            what = "refuse" if line in refused else "take"
            raise language.Failure(f"{name}: the headers {what} {' from '.join(pair)} for {chip}, unlike element_types.tsv")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    arguments = parser.parse_args()
    status = 0
    for chip in CHIPS:
        check_types(chip)
        path = os.path.join(PROGRAMS, f"random_calls_{chip}.h")
        status |= language.put(path, calls_of(chip), arguments.check)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except language.Failure as failure:
        print(f"random_calls.py: {failure}", file=sys.stderr)
        sys.exit(1)
