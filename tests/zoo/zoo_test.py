#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the programs of the zoo as their authors tell users to.

    zoo_test.py tree  --zoo ZOO --work WORK --build BUILD    install the build into WORK/tree
    zoo_test.py run   --zoo ZOO --work WORK FOLDER           build and run one program with that tree
    zoo_test.py count --zoo ZOO --work WORK                  how many programs passed when they last ran

A program runs in a copy of its folder, with an empty HOME, the commands of the system and what set_env.sh sets.
"""
import argparse
import json
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys

# The commands of the system. Programs find everything else through set_env.sh.
SYSTEM_PATH = "/usr/bin:/bin"
# Half of the time to compile a kernel goes into code for other processors and for tracing.
QUICK = "--targets=native --no-trace"
STARTS = ("set_env", "default")


class Failure(Exception):
    """What is wrong, as a sentence."""


def rows_of(zoo):
    """The rows of zoo.tsv by folder: (start, command, texts that must appear)."""
    rows = {}
    for number, line in enumerate((zoo / "zoo.tsv").read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) < 5 or not all(cells):
            raise Failure(f"zoo.tsv:{number}: a row is folder, shape, start, command and at least one text, with tabs between")
        folder, _, start, command, *texts = cells
        if start not in STARTS:
            raise Failure(f"zoo.tsv:{number}: start is \"{start}\"; known are {' and '.join(STARTS)}")
        if folder in rows:
            raise Failure(f"zoo.tsv:{number}: {folder} has a row already")
        rows[folder] = (start, command, texts)
    return rows


def install(work, build):
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["cmake", "--install", str(build), "--prefix", str(tree)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"the build could not be installed:\n{done.stdout}")
    print(f"zoo: {tree} is installed")


def script_of(tree, start, command):
    """What a user types."""
    if start == "default":
        # The program looks for the tree at its default place and sources set_env.sh itself.
        return f"{shlex.quote(str(tree / 'bin' / 'canopy'))} link-default --yes\n{command}\n"
    return f"source {shlex.quote(str(tree / 'set_env.sh'))}\n{command}\n"


def run(zoo, work, folder):
    results = work / "results"
    results.mkdir(parents=True, exist_ok=True)
    result = results / f"{folder}.json"
    result.unlink(missing_ok=True)
    rows = rows_of(zoo)
    if folder not in rows:
        raise Failure(f"{folder} has no row in zoo.tsv")
    start, command, texts = rows[folder]
    tree, place = work / "tree", work / folder
    if not (tree / "set_env.sh").is_file():
        raise Failure(f"{tree} is not installed; run zoo.tree first")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(zoo / folder, place / folder)
    (place / "home").mkdir()
    environment = {"PATH": SYSTEM_PATH, "HOME": str(place / "home"), "LANG": "C.UTF-8", "TMPDIR": "/tmp",
                   "CANOPY_CC_FLAGS": QUICK}
    done = subprocess.run(["/bin/bash", "-e", "-c", script_of(tree, start, command)], cwd=place / folder,
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout)
    if done.returncode != 0:
        raise Failure(f"{folder}: \"{command}\" ended with {done.returncode}")
    missing = [text for text in texts if text not in done.stdout]
    if missing:
        raise Failure(f"{folder}: \"{command}\" did not print \"{missing[0]}\"")
    seconds = usage.ru_utime + usage.ru_stime
    result.write_text(json.dumps({"processor_seconds": seconds}), encoding="utf-8")
    print(f"zoo: {folder} builds and runs as it is ({seconds:.1f} s of processor time)")


def count(zoo, work):
    rows = rows_of(zoo)
    folders = {path.name for path in zoo.iterdir() if path.is_dir() and path.name != "__pycache__"}
    for folder in sorted(folders ^ set(rows)):
        raise Failure(f"{folder} has {'no row in zoo.tsv' if folder in folders else 'a row in zoo.tsv and no folder'}")
    seconds, failed = 0.0, []
    for folder in sorted(rows):
        result = work / "results" / f"{folder}.json"
        if result.is_file():
            seconds += json.loads(result.read_text(encoding="utf-8"))["processor_seconds"]
        else:
            failed.append(folder)
    print(f"{len(rows) - len(failed)} of {len(rows)} programs build and run as they are "
          f"({seconds:.0f} s of processor time)")
    if failed:
        raise Failure(f"these do not: {' '.join(failed)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("tree", "run", "count"):
        command = commands.add_parser(name)
        command.add_argument("--zoo", type=pathlib.Path, required=True)
        command.add_argument("--work", type=pathlib.Path, required=True)
        if name == "tree":
            command.add_argument("--build", type=pathlib.Path, required=True)
        if name == "run":
            command.add_argument("folder")
    arguments = parser.parse_args()
    zoo, work = arguments.zoo.resolve(), arguments.work.resolve()
    try:
        if arguments.command == "tree":
            install(work, arguments.build)
        elif arguments.command == "run":
            run(zoo, work, arguments.folder)
        else:
            count(zoo, work)
    except Failure as failure:
        print(f"zoo: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
