# SPDX-License-Identifier: Apache-2.0
"""A failing kernel's folder and its replay, alone and under gdb; dump files, read by a decoder of this file, by
`protoc --decode_raw` where it is installed, and by numpy.

    dump_test.py <canopy> <program overrun> <its source>
"""
import json
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

import numpy

TOOL, PROGRAM, SOURCE = map(os.path.abspath, sys.argv[1:4])
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("CANOPY_DUMP", "ASCEND_"))}
ENVIRONMENT["CANOPY_DEVICE_MEMORY"] = "256M"
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="canopy-dump-test-"))


def run(*command, status=0, **variables):
    done = subprocess.run([str(word) for word in command], env={**ENVIRONMENT, **variables}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100, cwd=FOLDER)
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def line_of(text):
    lines = pathlib.Path(SOURCE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def fields(message):
    """The fields of a protobuf message: pairs of number and value."""
    at, found = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            found.append((key >> 3, number()))
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size = number()
            found.append((key >> 3, message[at:at + size]))
            at += size
    return found


def split(path):
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return content[8:8 + length], content[8 + length:]


def the_only(pattern):
    paths = list(FOLDER.glob(pattern))
    assert len(paths) == 1, f"{pattern}: {paths}"
    return paths[0]


def test_replay():
    parent = FOLDER / "failures"
    said = run(PROGRAM, "bad", status=1, CANOPY_CHECK="1", CANOPY_DUMP_EXCEPTION=str(parent))
    message = re.search(r"\d+ .*(kernel .*) \(code", said).group(1)
    what = message.split("): ", 1)[1]
    assert f"overrun.asc:{line_of('// the store')}" in what, said
    folder = the_only("failures/*")
    assert f"canopy replay {folder}" in said, said
    assert sorted(path.name for path in folder.iterdir()) == ["image", "memory", "replay.json"]
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    facts = json.loads((folder / "replay.json").read_text())
    assert (facts["block"], facts["blocks"], facts["not_followed"]) == (2, 4, []), facts
    shown = run(TOOL, "replay", folder)
    assert "the same failure" in shown and shown.count(what) == 2, f"{message}\n{shown}"
    assert "block 2 of 4" in shown and "as the failed kernel left it" in shown, shown
    return folder, what


def test_without_checking():
    """Without checking mode, allocations lie elsewhere and are larger."""
    run(PROGRAM, "halt", status=1, CANOPY_CHECK="0", CANOPY_DUMP_EXCEPTION=str(FOLDER / "unchecked"))
    folder = the_only("unchecked/*")
    assert "block 2 of 4: the same failure" in run(TOOL, "replay", folder)
    assert "did not fail" in run(TOOL, "replay", folder, "--block", "1")


def test_blocks(folder, what):
    assert "did not fail" in run(TOOL, "replay", folder, "--block", "1")
    shown = run(TOOL, "replay", folder, "--block", "all")
    assert "all 4 blocks: the same failure" in shown and what in shown, shown
    assert "between 0 and 3" in run(TOOL, "replay", folder, "--block", "4", status=1)
    assert "neither a number" in run(TOOL, "replay", folder, "--block", "x", status=2)
    assert "one folder" in run(TOOL, "replay", folder, folder, status=2)


def test_gdb(folder):
    if not shutil.which("gdb"):
        print("gdb is not installed: not tested")
        return
    shown = run(TOOL, "replay", folder, "--gdb", "--", "-batch", "-ex", "bt 1", "-ex", "info args", "-ex", "continue",
                "-ex", "bt 1")
    line = line_of("// the store")
    assert re.search(r"#0 .*overrun \(.*overrun\.asc:\d+", shown), shown
    assert "place = 1024" in shown, shown
    assert "SIGSEGV" in shown and re.search(rf"#0 .*overrun\.asc:{line}\b", shown), shown
    assert f"{line}\t" in shown and "// the store" in shown, shown


def test_memory_before_the_launch():
    for name, memory in (("after", {}), ("before", {"CANOPY_DUMP_EXCEPTION_BEFORE": "*rewrite*"})):
        run(PROGRAM, "rewrite", status=1, CANOPY_CHECK="1", CANOPY_DUMP_EXCEPTION=str(FOLDER / name), **memory)
        _, data = split(the_only(f"{name}/*/memory"))
        assert struct.unpack("<i", data[:4])[0] == (0 if name == "before" else 7)
        # The memory after the failure leads to the other store.
        shown = run(TOOL, "replay", the_only(f"{name}/*"), status=0 if name == "before" else 3)
        assert ("before the launch" in shown) == (name == "before"), shown


def test_damaged_folders(folder):
    for name in ("image", "memory", "replay.json"):
        damaged = FOLDER / "damaged"
        shutil.copytree(folder, damaged)
        content = (damaged / name).read_bytes()
        (damaged / name).write_bytes(content[:-len(content) // 3])
        assert "canopy replay: " in run(TOOL, "replay", damaged, status=1)
        (damaged / name).unlink()
        assert "no complete dump" in run(TOOL, "replay", damaged, status=1)
        shutil.rmtree(damaged)


def full_folder(dump):
    """A folder in which the first .npy file of a dump is a device that takes nothing."""
    folder = FOLDER / "full"
    folder.mkdir()
    (folder / f"{dump.name}.input.0.npy").symlink_to("/dev/full")
    return folder


def test_dump_files():
    (FOLDER / "data").mkdir()
    (FOLDER / "acl.json").write_text(json.dumps(
        {"dump": {"dump_path": str(FOLDER / "data"), "dump_op_switch": "on", "dump_mode": "all"}}))
    run(PROGRAM, "good", FOLDER / "acl.json", CANOPY_CHECK="1")  # allocations of the size that was asked for
    path = the_only("data/*/0/*")
    head, data = split(path)
    all_fields = fields(head)
    numbers = [number for number, _ in all_fields]
    assert numbers == [1, 2, 3, 3, 4, 4, 6, 7], numbers
    assert all_fields[0][1] == b"2.0"
    values, out = (dict(fields(value)) for number, value in all_fields if number == 4)
    assert (values[1], values[2], values[5], values.get(10, 0)) == (1, 2, 32, 0), values
    assert (out[1], out[5], out[10]) == (7, 4096, 1), out
    assert dict(fields(values[3])) == {1: bytes([8])}
    assert len(data) == 2 * (32 + 4096)
    if shutil.which("protoc"):
        decoded = subprocess.run(["protoc", "--decode_raw"], input=head, stdout=subprocess.PIPE, check=True).stdout
        assert b'1: "2.0"' in decoded, decoded

    shown = run(TOOL, "dump", path, "--npy", FOLDER / "npy")
    assert "input 0: float [8], 32 bytes, argument 0" in shown, shown
    assert "min 1, max 8, average 4.5" in shown, shown
    before, after = (numpy.load(FOLDER / "npy" / f"{path.name}.{kind}.npy") for kind in ("input.1", "output.1"))
    assert before.dtype == numpy.int32 and not before.any()
    assert after[3] == 36 + 200 + 4000 and after.sum() == after[3]
    assert numpy.load(FOLDER / "npy" / f"{path.name}.input.0.npy").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    for file in (FOLDER / "npy").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE((FOLDER / "npy").stat().st_mode) == 0o700
    assert "No space left" in run(TOOL, "dump", path, "--npy", full_folder(path), status=1)
    facts = json.loads(run(TOOL, "dump", path, "--json"))
    assert [part["kind"] for part in facts[0]["parts"]] == ["input", "input", "output", "output"]
    assert facts[0]["parts"][0]["max"] == 8

    strange = FOLDER / "strange"
    message = bytes([10, 3]) + b"2.0" + bytes([50, 5]) + b"\x1b[2Jx" + bytes([74, 3]) + b"a\rb"
    strange.write_bytes(struct.pack("<Q", len(message)) + message)
    shown = run(TOOL, "dump", strange)
    assert "of ?[2Jx," in shown and "a?b" in shown, shown

    cut = FOLDER / "cut"
    content = path.read_bytes()
    for size, words in ((0, "not a dump"), (7, "not a dump"), (50, "cut off"), (len(content) - 1, "cut off")):
        cut.write_bytes(content[:size])
        assert words in run(TOOL, "dump", cut, status=1), size
    assert "not a dump" in run(TOOL, "dump", PROGRAM, status=1)
    assert "cannot open" in run(TOOL, "dump", FOLDER / "nothing", status=1)
    assert "not a file" in run(TOOL, "dump", FOLDER, status=1)
    assert "cannot make the folder" in run(TOOL, "dump", path, "--npy", "/dev/null/x", status=1)
    assert "no element type" in run(TOOL, "dump", path, "--type", "float7", status=2)
    assert run(TOOL, "dump", status=2)


def test_fallback():
    """A device in another process: its memory is in the folder, which says why it cannot run again."""
    parent = FOLDER / "apart"
    run(PROGRAM, "far", status=1, CANOPY_DEVICE="apart", CANOPY_DUMP_EXCEPTION=str(parent))
    _, data = split(the_only("apart/*/memory"))
    assert struct.pack("<8f", *range(1, 9)) in data
    assert "cannot run again" in run(TOOL, "replay", the_only("apart/*"), status=1)


try:
    run(PROGRAM, "good")
    dump, clause = test_replay()
    test_blocks(dump, clause)
    test_gdb(dump)
    test_damaged_folders(dump)
    test_memory_before_the_launch()
    test_without_checking()
    test_dump_files()
    test_fallback()
finally:
    shutil.rmtree(FOLDER)
print("replays, gdb and dump files are right")
