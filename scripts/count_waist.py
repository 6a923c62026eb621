#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the functions of the waist (src/device/driver.h): those that every kind of device implements, those with a
default, and those of abilities that a kind may have.

    scripts/count_waist.py [--limit N]     fails if a kind must implement more than N functions
"""
import argparse
import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).resolve().parent.parent / "src/device/driver.h"
KIND = ("DeviceKind", "Driver", "LoadedCode", "LaunchSlot")  # every kind has these; the other classes are abilities


def functions(text):
    """For each class: the names of its virtual functions, and which of them must be implemented."""
    found, current = {}, None
    for line in text.splitlines():
        if match := re.match(r"class (\w+) \{", line):
            current = match.group(1)
        match = re.match(r"\s+(?:\[\[nodiscard\]\] )?virtual (?!~).*?(\w+)\(", line)
        if match and current:
            found.setdefault(current, []).append([match.group(1), False])
        if current and found.get(current) and line.rstrip().endswith("= 0;"):
            found[current][-1][1] = True
        if line == "};":
            current = None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="the most functions that a kind may have to implement")
    limit = parser.parse_args().limit
    found = functions(HEADER.read_text(encoding="utf-8"))
    required = 0
    for name in KIND:
        must = [function for function, needed in found[name] if needed]
        may = [function for function, needed in found[name] if not needed]
        required += len(must)
        print(f"{name:14} {len(must):2} to implement: {', '.join(must)}" + (f"; with a default: {', '.join(may)}" if may else ""))
    print(f"{'a kind':14} {required:2} to implement")
    for name in sorted(set(found) - set(KIND)):
        print(f"  ability {name:14} {len(found[name]):2}: {', '.join(function for function, _ in found[name])}")
    if limit is not None and required > limit:
        print(f"count_waist: a kind must implement {required} functions; at most {limit} are wanted", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
