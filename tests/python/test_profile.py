# SPDX-License-Identifier: Apache-2.0
"""canopy.profile(): what a part of the program did, as arrays; and the functions acl.prof."""
import json
import os

import numpy as np
import pytest

import acl
import canopy

from conftest import run_program, value_of


@pytest.fixture(autouse=True)
def device():
    with canopy.Device(0) as opened:
        yield opened


@pytest.fixture
def library():
    with canopy.load(os.environ["CANOPY_TEST_IMAGE"]) as loaded:
        yield loaded


def names_of(profile, table, column="name"):
    return [profile.names[number] for number in table[column]]


def test_marks_and_ranges_nest():
    @canopy.range("step")
    def step():
        canopy.mark("inside")
        with canopy.range("half"):
            return 7

    with canopy.profile() as profile:
        assert step() == 7
    assert names_of(profile, profile.marks, "text") == ["step", "inside", "half"]
    outer, moment, inner = profile.marks
    assert moment["duration"] == 0 and moment["form"] == 0
    for each in (moment, inner):
        assert outer["start"] <= each["start"] <= each["start"] + each["duration"] <= outer["start"] + outer["duration"]
    assert set(profile.marks["on_device"]) == {0}
    assert profile.lost == 0 and profile.damage == "" and profile.began > 0


def test_nothing_is_collected_outside_the_block():
    canopy.mark("before")
    with canopy.range("open"):
        with canopy.profile(want="marks") as profile:
            canopy.mark("inside")
    assert names_of(profile, profile.marks, "text") == ["inside"]


def test_calls_and_tasks_have_their_places(library):
    numbers = canopy.zeros(4, np.uint32)
    with canopy.profile() as profile:
        for _ in range(5):
            library["increment"](1)(numbers)
        canopy.synchronize()
    assert numbers.numpy()[0] == 5
    tasks = profile.tasks[profile.tasks["type"] == 0]
    assert names_of(profile, tasks) == ["increment"] * 5
    assert (np.diff(tasks["start"]) >= 0).all() and (tasks["duration"] > 0).all()
    assert (np.diff(tasks["task"]) == 1).all() and len(set(tasks["stream"])) == 1
    calls = profile.calls[np.isin(profile.calls["task"], tasks["task"]) & (profile.calls["tasks"] > 0)]
    assert len(calls) == 5 and (calls["code"] == 0).all()
    table = profile.kernels()
    assert table["name"].tolist() == ["increment"] and table["count"].tolist() == [5]
    assert table["total"][0] == pytest.approx(tasks["duration"].sum())
    assert table["least"][0] <= table["mean"][0] <= table["most"][0]


def test_copies_say_their_bytes(library):
    with canopy.profile(want=["tasks"]) as profile:
        with canopy.Stream() as stream:
            array = canopy.zeros(1000, np.float32)
            library["nothing"](1, stream)()
    assert len(profile.calls) == 0 and len(profile.memory) == 0
    assert (profile.copies["bytes"] > 0).all()
    assert array.nbytes == 4000


def test_profiles_are_saved(tmp_path, library):
    with canopy.profile(tmp_path / "run.canopyprof") as profile:
        library["nothing"](1)()
        canopy.mark("a mark")
        canopy.synchronize()
    for name in ("run.html", "run.json", "copy.canopyprof"):
        profile.save(tmp_path / name)
    assert "<html" in (tmp_path / "run.html").read_text()
    assert any(event.get("name") == "a mark" for event in json.loads((tmp_path / "run.json").read_text()))
    assert (tmp_path / "copy.canopyprof").read_bytes() == (tmp_path / "run.canopyprof").read_bytes()
    folder = tmp_path / "results"
    folder.mkdir()
    profile.save(folder)
    assert [path.name[:5] for path in folder.iterdir()] == ["PROF_"]
    with pytest.raises(canopy.Error, match="ends neither in"):
        profile.save(tmp_path / "run.txt")
    with pytest.raises(canopy.Error, match="none"):
        profile.save("/proc/none/run.html")


def test_misuse_is_an_error():
    with pytest.raises(ValueError, match="calls, tasks"):
        canopy.profile(want="everything else")
    with pytest.raises(ValueError, match="empty"):
        canopy.profile(want=[])
    with pytest.raises(RuntimeError, match="has not been recorded"):
        canopy.profile().tasks
    with pytest.raises(canopy.Error, match="/proc/none"):
        with canopy.profile("/proc/none/a"):
            pass
    with canopy.profile(want="marks") as profile:
        with pytest.raises(RuntimeError, match="still recorded"):
            profile.marks
    with pytest.raises(RuntimeError, match="once"):
        with profile:
            pass
    with pytest.raises(AttributeError):
        profile.something
    profile.close()
    profile.close()


def test_error_of_the_block_is_the_one_that_is_raised():
    with pytest.raises(KeyError):
        with canopy.profile() as profile:
            raise KeyError
    assert len(profile.tasks) == 0


def test_profiles_may_overlap():
    with canopy.profile(want="marks") as outer:
        canopy.mark("one")
        with canopy.profile(want="marks") as inner:
            canopy.mark("two")
    assert names_of(outer, outer.marks, "text") == ["one", "two"]
    assert names_of(inner, inner.marks, "text") == ["two"]


def test_session_of_acl_leaves_its_folder(tmp_path):
    """In a separate process: sessions belong to a process."""
    run_program(f"""
import acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, code = acl.rt.create_stream()
assert acl.prof.init({str(tmp_path)!r}) == 0
assert acl.prof.set_config(3, "15") == 0
config = acl.prof.create_config([0], 255, 0, 0x1 | 0x2 | 0x80)
assert config != 0 and acl.prof.start(config) == 0
stamp = acl.prof.create_stamp()
assert stamp != 0 and acl.prof.set_stamp_trace_message(stamp, "text", 4) == 0
assert acl.prof.mark(stamp) == 0 and acl.prof.push(stamp) == 0 and acl.prof.pop() == 0
number, code = acl.prof.range_start(stamp)
assert code == 0 and acl.prof.range_stop(number) == 0
assert acl.prof.mark_ex("on the stream", stream) == 0
step = acl.prof.create_step_info()
assert acl.prof.get_step_timestamp(step, 0, stream) == 0 and acl.prof.get_step_timestamp(step, 1, stream) == 0
acl.prof.destroy_step_info(step)
acl.prof.destroy_stamp(stamp)
assert acl.rt.synchronize_stream(stream) == 0
assert acl.prof.stop(config) == 0 and acl.prof.destroy_config(config) == 0 and acl.prof.finalize() == 0
acl.finalize()
""")
    folder, = tmp_path.iterdir()
    assert folder.name.startswith("PROF_000001_")
    table, = (folder / "mindstudio_profiler_output").glob("msprof_tx_*.csv")
    assert "on the stream" in table.read_text()


def test_records_of_a_subscription_are_refused_when_they_are_none():
    assert value_of(acl.prof.get_op_desc_size()) == 80
    assert acl.prof.get_op_num(b"1234", 4)[1] == 100000
    assert acl.prof.model_subscribe(4711, 0) != 0
