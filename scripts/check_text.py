#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the text of every file of the repository: the licence line, unfinished business, file sizes, whitespace,
words for which the trade has better ones; and that links, scripts, presets and variables on the pages exist.

    scripts/check_text.py [--root FOLDER]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

CODE = {".asc", ".cpp", ".h", ".c", ".py", ".sh", ".bash", ".cmake", ".map"}
TEXT = CODE | {".md", ".txt", ".json", ".in", ".tsv", ".svg", ""}
MAX_LINES = 700
# Written by rule, not by hand: as long as it must be.
FREE_LENGTH = ("include/acl/", "docs/coverage.md", "tests/language/random_calls_", "LICENSE")
# Input of fuzzers, byte for byte.
SEEDS = "tests/fuzz/seeds/"
# This file has to name what it looks for.
SELF = "scripts/check_text.py"

UNWANTED = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished business"),
    (re.compile(r"[ \t]+$"), "blanks at the end of a line"),
    (re.compile(r"^(<<<<<<<|>>>>>>>) "), "conflict that was not resolved"),
]

# Home-made words, and the usual ones.
VOCABULARY = [
    (re.compile(r"\bspoil(s|t|ed|ing)?\b", re.IGNORECASE), "invalidate"),
    (re.compile(r"\bwhoever\b", re.IGNORECASE), "the thread, the caller, the user"),
    (re.compile(r"\bkept back\b", re.IGNORECASE), "deferred free"),
    (re.compile(r"\bbrought near\b", re.IGNORECASE), "prefetched"),
    (re.compile(r"\bstands? before\b", re.IGNORECASE), "waits at"),
    (re.compile(r"\bthat (is|are) none\b", re.IGNORECASE), "invalid"),
    (re.compile(r"\bof (its|their) own(?=[ ]*(?:$|[.,:;)]|(?:and|for|in|on|or|that|which|with)\b))", re.IGNORECASE), "its own, separate"),
    (re.compile(r"(?<!there )\b(is|are) no (address|array|image|JSON|kernel|list|multiple|number|text)\b"), "is not a"),
]


def repository_files(root):
    """Tracked files and new ones that are not ignored; without git, everything outside build/."""
    try:
        names = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], check=True,
                               capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    return sorted(name for name in names if (root / name).is_file())


def check_file(name, text):
    lines = text.split("\n")
    suffix = pathlib.PurePosixPath(name).suffix
    if (suffix in CODE or name.endswith("CMakeLists.txt")) and not any("SPDX-License-Identifier: Apache-2.0" in line
                                                                       for line in lines[:3]):
        yield f"{name}:1: no licence line"
    if text and not text.endswith("\n"):
        yield f"{name}:{len(lines)}: no end of line at the end of the file"
    if suffix in CODE and len(lines) > MAX_LINES + 1 and not name.startswith(FREE_LENGTH):
        yield f"{name}: {len(lines) - 1} lines are more than {MAX_LINES}"
    if name == SELF or name == "LICENSE":
        return
    for number, line in enumerate(lines, 1):
        for pattern, what in UNWANTED:
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"
        for pattern, usual in VOCABULARY:
            if match := pattern.search(line):
                yield f"{name}:{number}: \"{match.group()}\"; the usual words are: {usual}"


def check_page(root, name, text, presets, variables):
    """Links, and the files, presets and variables in the commands of a page."""
    folder = (root / name).parent
    for number, line in enumerate(text.split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line) + re.findall(r'<img[^>]*src="([^"]+)"', line):
            if not re.match(r"[a-z]+:|#", target) and not (folder / target.split("#")[0]).exists():
                yield f"{name}:{number}: link to {target}, which does not exist"
        for preset in re.findall(r"--preset[ =]([a-z]+)", line):
            if preset not in presets:
                yield f"{name}:{number}: there is no preset {preset}"
        for variable in re.findall(r"\bCANOPY_[A-Z_]+\b", line):
            if variable not in variables:
                yield f"{name}:{number}: nothing reads {variable}"
        for script in re.findall(r"(?:^|[\s`\"(])(\./[\w.-]+\.sh|(?:scripts|examples|src|tests|tools|toolchain|docs)/"
                                 r"[\w./-]*\w)", line):
            if not (root / script).exists() and not (folder / script).exists():
                yield f"{name}:{number}: {script} does not exist"


def check_figures(readme, performance):
    """The README repeats figures of the performance page; they must not drift apart."""
    for number, line in enumerate(readme.split("\n"), 1):
        for figure in re.findall(r"[\d,.]*\d (?:ns|GB/s|M/s)", line) if line.startswith("|") else []:
            if figure not in performance:
                yield f"README.md:{number}: {figure} is not in docs/performance.md"


def check_counts(texts):
    """The README says how many names, functions and programs there are, as the generated pages and the zoo have it."""
    programs = len(re.findall(r"^[^#\n]", texts["tests/zoo/zoo.tsv"], re.MULTILINE))
    counts = {"names": re.findall(r"\*\*(\d+ of \d+) names", texts["docs/kernel-language.md"]),
              "functions": re.findall(r"\*\*(\d+ of \d+) functions", texts["docs/coverage.md"]),
              "programs": [f"{programs} of {programs}"]}
    for noun, count in counts.items():
        found = re.findall(rf"(\d+ of \d+) {noun}", texts["README.md"])
        if found != count:
            yield f"README.md: says {found} {noun}; it should be {count}"


def check_variables(texts):
    """Every variable that a part of Canopy reads is in the list that tells others apart."""
    known = set(re.findall(r'"(CANOPY_[A-Z_]+)"', texts["src/core/process/variables.cpp"]))
    reading = re.compile(r'(?:getenv|variable|environ\.get|from_environment)\(\s*"(CANOPY_[A-Z_]+)"|'
                         r'environ\["(CANOPY_[A-Z_]+)"\]')
    for name, text in texts.items():
        for first, second in reading.findall(text):
            variable = first or second
            if variable not in known and not variable.startswith(("CANOPY_TEST_", "CANOPY_BENCH_")):
                yield f"{name}: reads {variable}, which src/core/process/variables.cpp does not know"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    problems, texts = [], {}
    for name in repository_files(root):
        if pathlib.PurePosixPath(name).suffix not in TEXT:
            continue
        try:
            texts[name] = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problems.append(f"{name}: not UTF-8")
    presets = {preset["name"] for preset in json.loads(texts["CMakePresets.json"])["configurePresets"]}
    code = "\n".join(text for name, text in texts.items() if not name.endswith(".md") and name != SELF)
    variables = set(re.findall(r"\bCANOPY_[A-Z_]+\b", code))
    for name, text in texts.items():
        if not name.startswith(SEEDS):
            problems.extend(check_file(name, text))
        if name.endswith(".md"):
            problems.extend(check_page(root, name, text, presets, variables))
    if "README.md" in texts:
        # Every variable that the library reads is explained.
        for variable in sorted(set(re.findall(r'"(CANOPY_[A-Z_]+|ASCEND_[A-Z_]+)"', texts["src/core/process/settings.cpp"]))):
            if variable not in texts["docs/settings.md"]:
                problems.append(f"docs/settings.md: does not mention {variable}, which src/core/process/settings.cpp reads")
        problems.extend(check_counts(texts))
        problems.extend(check_variables(texts))
        problems.extend(check_figures(texts["README.md"], texts.get("docs/performance.md", "")))
    for problem in problems:
        print(problem)
    if problems:
        print(f"check_text: {len(problems)} problems", file=sys.stderr)
        return 1
    print(f"check_text: {len(texts)} files are in order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
