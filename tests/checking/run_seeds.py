#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of a program of seeded bugs under the checker, and compares what it finds with what it should.

    tests/checking/run_seeds.py [--workers 1,2,8] [--times N] [--canopy FILE] [--kernels NAME,...] PROGRAM SOURCE...

Kernels named bug_N... must give the findings that EXPECTED lists, at the lines with the marks [N a] of the sources, and
no other errors or warnings; kernels named right_N... none. With each number of workers, and N times.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Of each kernel: (id, kind, memory, marks of its places). Ids, kinds and memories are regular expressions, empty for
# what does not matter; marks are in any order. A leading ? allows the finding without asking for it: a bug may
# have consequences.
EXPECTED = {
    "bug_01": [("race.pipe", "RAW", "UB", "1 a, 1 b")],
    "bug_02": [("race.pipe", "RAW", "UB", "2 a, 2 b")],
    "bug_03": [("race.pipe", "WAR", "UB", "3 a, 3 b")],
    "bug_04": [("race.pipe", "WAR", "UB", "4 a, 4 b")],
    "bug_05": [("race.pipe", "RAW", "UB", "5 a, 5 b")],
    "bug_06": [("race.pipe", "RAW", "UB", "6 a, 6 b")],
    "bug_07": [("race.in-pipe", "WAW", "UB", "7 a, 7 b")],
    "bug_08": [("race.in-pipe", "WAW", "GM", "8 a, 8 b")],
    "bug_09": [("race.in-pipe|race.atomic", "WAW", "GM", "9 a, 9 b")],
    "bug_10": [("race.in-pipe", "RAW", "UB", "10 a, 10 b")],
    "bug_11": [("race.pipe", "RAW", "GM", "11 a, 11 b")],
    "bug_12": [("race.pipe", "RAW", "UB", "12 a, 12 b")],
    "bug_13": [("race.pipe", "WAW", "UB", "13 a, 13 b")],
    "bug_14": [("race.pipe", "RAW", "UB", "14 a, 14 b")],
    "bug_15": [("race.pipe", "RAW", "UB", "15 a, 15 b"), ("memory.queued", "", "UB", "15 b")],
    "bug_16": [("race.pipe", "WAR", "L0A", "16 a, 16 b"), ("race.pipe", "WAR", "L0B", "16 a, 16 d")],
    "bug_17": [("race.pipe", "RAW", "L0C", "17 a, 17 b")],
    "bug_18": [("race.in-pipe", "RAW|WAW", "L0C", "18 a, 18 a")],
    "bug_19": [("sync.unit-flag", "", "L0C", "17 a")],
    "bug_20": [("race.pipe", "RAW", "UB", "20 a, 20 b")],
    "bug_21": [("race.pipe", "RAW", "UB", "21 a, 21 b")],
    "bug_22": [("race.core", "WAW", "GM", "22 a, 22 a")],
    "bug_23": [("race.core", "WAW", "GM", "23 a, 23 a")],
    "bug_24": [("race.core|race.group", "RAW|WAR", "GM", "24 a, 24 b")],
    "bug_25": [("race.core|race.group", "RAW|WAR", "GM", "25 a, 25 b")],
    "bug_26": [("race.core|race.group", "RAW|WAR", "GM", "26 a, 26 b"), ("sync.counter", "", "", "")],
    "bug_27": [("race.atomic", "WAW", "GM", "27 a, 27 b")],
    "bug_28": [("race.core", "RAW|WAR", "GM", "28 a, 28 b")],
    "bug_29": [("cache.line", "", "GM", "29 a, 29 a")],
    "bug_30": [("cache.stale", "", "GM", "30 a, 30 b")],
    "bug_31": [("cache.dirty", "", "GM", "31 a, 31 b")],
    "bug_32": [("memory.tensor|memory.buffer", "", "UB", "32 a")],
    "bug_33": [("memory.tensor", "", "UB", "33 a")],
    "bug_34": [("memory.overlap", "", "UB", "34 a"), ("race.pipe", "WAW", "UB", "34 b, 34 c")],
    "bug_35": [("memory.align", "", "", "35 a")],
    "bug_36": [("memory.reset", "", "UB", "36 a"), ("?memory.reset", "", "UB", "36 b")],
    "bug_37": [("memory.foreign", "", "GM", "37 a")],
    "bug_38": [("sync.queue", "", "", "38 a")],
    "bug_38_queue": [("sync.queue", "", "", "38 b"), ("?sync.leak", "", "", "")],
    "bug_39": [("init.scalar", "", "UB", "39 a")],
    "bug_40": [("init.out", "", "UB|GM", "40 a")],
    "bug_41": [("init.scalar", "", "GM", "41 a, 41 b")],
    "bug_43": [("sync.wait", "", "", "43 a")],
    "bug_44": [("sync.set", "", "", "44 a")],
    "bug_45": [("sync.ids", "", "", "45 a")],
    "bug_46": [("sync.queue", "", "", "46 a"), ("?sync.leak", "", "", "")],
    "bug_46_empty": [("sync.queue", "", "", "46 b"), ("?sync.leak", "", "", "")],
    "bug_46_leak": [("sync.leak", "", "", "")],
    "bug_47": [("sync.arrival", "", "", "47 a"), ("?sync.counter", "", "", "")],
    "bug_48": [("sync.counter", "", "", "48 a"), ("?sync.arrival", "", "", "")],
    "bug_49": [("sync.kind", "", "", "49 a")],
    "bug_49_blocks": [("sync.blocks", "", "", "49 a"), ("?sync.arrival", "", "", "")],
    "bug_50": [("sync.end", "", "", "50 a")],
}
MARK = re.compile(r"\[(\d+ \w)\]")


def marks_of(sources):
    """The marks of each (file, line)."""
    marks = {}
    for source in sources:
        for number, text in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
            for mark in MARK.findall(text):
                marks[(os.path.basename(source), number)] = mark
    return marks


def describe(finding):
    places = ", ".join(f"{os.path.basename(a.get('file') or '?')}:{a.get('line', 0)}" for a in finding["accesses"])
    return f"{finding['level']} {finding['id']} {finding.get('kind', '')} {finding.get('memory', '')} at {places}"


def fits(expected, finding, marks):
    identity, kind, memory, places = expected
    if not re.fullmatch(identity.lstrip("?"), finding["id"]):
        return False
    if kind and not re.fullmatch(kind, finding.get("kind") or ""):
        return False
    if memory and not re.fullmatch(memory, finding.get("memory") or ""):
        return False
    seen = collections.Counter(
        marks.get((os.path.basename(a.get("file") or ""), a.get("line"))) for a in finding["accesses"]
    )
    wanted = collections.Counter(mark.strip() for mark in places.split(",") if mark)
    return not wanted - seen


def problems_of(kernel, findings, marks):
    problems = []
    serious = [f for f in findings if f["level"] != "note"]
    expected = EXPECTED.get(kernel, [])
    for wanted in expected:
        if not wanted[0].startswith("?") and not any(fits(wanted, f, marks) for f in serious):
            problems.append(f"{kernel}: no finding {wanted}")
    for finding in serious:
        if not any(fits(wanted, finding, marks) for wanted in expected):
            problems.append(f"{kernel}: unexpected: {describe(finding)}")
    return problems


def run(arguments, workers, report):
    environment = dict(os.environ, CANOPY_WORKERS=str(workers), CANOPY_CHECK="all", ASCEND_GLOBAL_LOG_LEVEL="4",
                       CANOPY_CHECK_OPTIONS=f"--json {report} --notes")
    command = [arguments.program, *filter(None, arguments.kernels.split(","))]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    kernels = [line.split()[0] for line in result.stdout.splitlines() if re.match(r"(bug|right)_\w+ \d+$", line)]
    if not kernels or result.returncode not in (0, 66):
        sys.exit(f"{arguments.program} ended with {result.returncode}\n{result.stdout}\n{result.stderr}")
    findings = collections.defaultdict(list)
    for line in pathlib.Path(report).read_text().splitlines():
        entry = json.loads(line)
        if "id" in entry:
            findings[entry.get("kernel") or ""].append(entry)
    return kernels, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,8")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--kernels", default="", help="only these")
    parser.add_argument("--print", action="store_true", help="print every finding")
    parser.add_argument("program")
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    marks = marks_of(arguments.sources)
    problems, runs = [], 0
    with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
        for workers in arguments.workers.split(","):
            for _ in range(arguments.times):
                runs += 1
                kernels, findings = run(arguments, workers, os.path.join(folder, f"{runs}.json"))
                if arguments.print and runs == 1:
                    for kernel in findings:
                        for finding in findings[kernel]:
                            print(f"{kernel}: {describe(finding)} x{finding.get('count')}")
                for kernel in kernels:
                    problems += [f"{workers} workers: {p}" for p in problems_of(kernel, findings[kernel], marks)]
    if problems:
        print("\n".join(dict.fromkeys(problems)))
        sys.exit(1)
    print(f"{len(kernels)} kernels, {runs} runs: as expected")


if __name__ == "__main__":
    main()
