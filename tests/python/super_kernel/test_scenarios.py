# SPDX-License-Identifier: Apache-2.0
"""The shapes of lists that are known from elsewhere as texts to compare, here executed for their results."""

import numpy
import pytest

from device import Failure, WAIT_EQUAL, made
from scenario import Op, Scenario

OPTIONS = ["", "early-start=0", "early-start=2", "func-align=256", "preload-code=max", "preload-code=none",
           "debug-dcci-all=1", "debug-sync-all=1", "feed-sync-all=1", "stream-fusion=1", "strict-scope-check=1",
           "profiling=1", "compile-options=-g", "dcci-before-kernel-start=scale:dcci-after-kernel-end=scale",
           "dcci-disable-on-kernel=scale", "debug-aic-num=4:debug-aiv-num=8", "early-start=0:profiling=1:feed-sync-all=1"]


def vector_ops(**more):
    return [Op("scale", ["in0"], "t", 32, **more), Op("combine", ["t", "in1"], "y", 1, **more)]


def cube_ops(**more):
    return [Op("triple", ["in0"], "t", 16, **more), Op("subtract", ["t", "in1"], "y", 1, **more)]


def run(device, kernels, ops, options="", launches=2):
    """Fused, several times with new numbers, and then one by one."""
    scenario = Scenario(device, kernels, ops, options)
    for _ in range(launches):
        scenario.clear()
        expected = scenario.fill()
        scenario.prepare_dynamic()
        scenario.launch()
        device.synchronize()
        scenario.check(expected)
    fused = scenario.results()
    scenario.clear()
    scenario.launch_one_by_one()
    device.synchronize()
    for name, values in scenario.results().items():
        assert values.tobytes() == fused[name].tobytes(), name
    return scenario


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("ops", [vector_ops, cube_ops])
def test_one_stream_two_kernels(device, kernels, ops, options):
    run(device, kernels, ops(), options)


@pytest.mark.parametrize("ops", [vector_ops, cube_ops])
def test_one_stream_split_mode_1(device, kernels, ops):
    run(device, kernels, ops(split_mode=1), "split-mode=1")


def test_one_stream_some_metadata_without_split_mode(device, kernels):
    ops = cube_ops()
    ops[0].split_mode = 4
    run(device, kernels, ops)


def test_one_stream_three_kernels_the_first_again(device, kernels):
    run(device, kernels, [*vector_ops(), Op("scale", ["y"], "z", 32)])


def test_one_stream_three_cube_kernels(device, kernels):
    run(device, kernels, [*cube_ops(), Op("triple", ["y"], "z", 16)])


def test_one_stream_all_kinds_of_cores(device, kernels):
    names = ["scale", "triple", "mix_one", "mix_two", "scale_mix", "triple_mix", "total"]
    ops = [Op(name, [f"t{index}" if index else "in0"], f"t{index + 1}", 4) for index, name in enumerate(names)]
    scenario = run(device, kernels, ops)
    assert scenario.metadata["taskRation"] == "1:2"


def test_a_product_of_matrices_and_what_follows(device, kernels):
    """A real cube kernel: its result goes on through a vector kernel."""
    import super_kernel
    entries = [dict(kernels("product", 1), arguments=["a", "b", "c"]),
               dict(kernels("scale"), arguments=["c", "y", "w"])]
    infos = {"op_list": entries}
    function = device.load(super_kernel.compile(infos, "fused"), "fused")
    addresses = {name: device.zeros(8192) for name in "abcyw"}
    generator = numpy.random.default_rng(1)
    a, b = (generator.integers(-4, 5, (32, 32)).astype(numpy.float16) for _ in range(2))
    device.write(addresses["a"], a)
    device.write(addresses["b"], b)
    device.launch(function, 8, super_kernel.argument_list(infos, addresses))
    device.synchronize()
    expected = a.astype(numpy.float32) @ b.astype(numpy.float32)
    numpy.testing.assert_array_equal(device.read(addresses["c"], 1024).reshape(32, 32), expected)
    numpy.testing.assert_array_equal(device.read(addresses["y"], 1024).reshape(32, 32), expected * 2 + 1)


def test_blocks_meet_in_a_kernel_with_fewer_blocks_than_the_fused_one(device, kernels):
    ops = [Op("scale", ["in0"], "t", 32), Op("total", ["t"], "u", 4), Op("combine", ["u", "in1"], "y", 16)]
    scenario = run(device, kernels, ops, "feed-sync-all=1")
    assert scenario.metadata["blockDim"] == 32 and scenario.metadata["workspace"]["size"] == [16384]


def two_streams(first, blocks=4):
    """Something on one stream, vector kernels on another one, and an event from the first to the second."""
    return [Op(first, ["in0"], "a", blocks, stream=0, sends=(1,)), Op("scale", ["in1"], "v", 8, stream=1),
            Op("triple", ["a"], "b", 4, stream=0), Op("combine", ["a", "v"], "y", 8, stream=1, receives=(1,))]


@pytest.mark.parametrize("first", ["triple", "triple_mix", "mix_one", "mix_two", "scale_mix"])
def test_two_streams(device, kernels, first):
    run(device, kernels, two_streams(first), "stream-fusion=1")


@pytest.mark.parametrize("options", ["profiling=1", "debug-sync-all=1", "preload-code=max", "early-start=0",
                                     "debug-dcci-all=1"])
@pytest.mark.parametrize("first", ["triple", "scale"])
def test_two_streams_with_options(device, kernels, first, options):
    run(device, kernels, two_streams(first), "stream-fusion=1:" + options)


def test_two_streams_with_blocks_that_meet(device, kernels):
    ops = [Op("triple", ["in0"], "a", 8, stream=0, sends=(1,)), Op("total", ["in1"], "v", 4, stream=1),
           Op("triple", ["a"], "b", 4, stream=0), Op("combine", ["a", "v"], "y", 16, stream=1, receives=(1,)),
           Op("total", ["y"], "z", 2, stream=1)]
    run(device, kernels, ops, "stream-fusion=1:feed-sync-all=1")


def test_two_streams_one_behind_the_other_by_events(device, kernels):
    ops = [Op("triple", ["in0"], "a", stream=0, sends=(1,)), Op("scale", ["a"], "b", stream=1, receives=(1,), sends=(2,)),
           Op("subtract", ["b", "in1"], "y", stream=0, receives=(2,))]
    run(device, kernels, ops, "stream-fusion=0")


def test_a_list_that_names_the_receiver_first(device, kernels):
    ops = [Op("triple", ["in0"], "a", stream=0), Op("scale", ["in1"], "v", stream=1),
           Op("combine", ["b", "v"], "y", stream=1, receives=(5,)), Op("triple", ["a"], "b", stream=0, sends=(5,)),
           Op("triple", ["b"], "c", stream=0)]
    run(device, kernels, ops, "stream-fusion=1", launches=4)


@pytest.mark.parametrize("sender, receiver, join", [("triple", "scale", "combine"), ("scale", "triple", "subtract")])
def test_four_kernels_with_crossed_events(device, kernels, sender, receiver, join):
    ops = [Op(sender, ["in0"], "a", stream=0, sends=(1,)), Op(sender, ["a"], "b", stream=0, sends=(2,)),
           Op(receiver, ["b"], "c", stream=1, receives=(2,)), Op(join, ["c", "a"], "y", stream=1, receives=(1,))]
    run(device, kernels, ops, "stream-fusion=1", launches=4)


def test_three_streams(device, kernels):
    ops = [Op("scale", ["in0"], "a", stream=0, sends=(1,)), Op("triple", ["in1"], "b", stream=1, sends=(2,)),
           Op("mix_two", ["in2"], "c", 4, stream=2), Op("combine", ["a", "b"], "d", stream=2, receives=(1, 2)),
           Op("combine", ["c", "d"], "y", stream=2)]
    run(device, kernels, ops, "stream-fusion=1", launches=4)


class Outside:
    """The other ends of outer events: a separate stream that waits for locks and sets them."""

    def __init__(self, device):
        self.device, self.stream = device, device.new_stream()

    def wait(self, lock):
        self.device.runtime.aclrtValueWait(lock, 1, WAIT_EQUAL, self.stream)

    def set(self, lock, value=1):
        self.device.runtime.aclrtValueWrite(lock, value, 0, self.stream)

    def write(self, address, values):
        self.device.write_async(address, values, self.stream)

    def copy(self, target, source, size):
        self.device.runtime.aclrtMemcpyAsync(target, size, source, size, 3, self.stream)


KINDS = [("scale", "combine", "times"), ("triple", "subtract", "cube_times")]


@pytest.mark.parametrize("first, join, _", KINDS)
def test_an_event_sent_outside(device, kernels, first, join, _):
    ops = [Op(first, ["in0"], "t", sends=(100,)), Op(join, ["t", "in1"], "y")]
    scenario, outside = Scenario(device, kernels, ops), Outside(device)
    seen = device.zeros(8192)
    for _ in range(3):
        device.write(scenario.locks[100], numpy.zeros(1, numpy.uint64))
        expected = scenario.fill()
        outside.wait(scenario.locks[100])
        outside.copy(seen, scenario.addresses["t"], 8192)
        scenario.launch()
        device.synchronize()
        scenario.check(expected)
        numpy.testing.assert_array_equal(device.read(seen), expected["t"])
        assert device.word(scenario.locks[100]) == 1


@pytest.mark.parametrize("first, join, _", KINDS)
def test_an_event_received_from_outside(device, kernels, first, join, _):
    ops = [Op(first, ["in0"], "t"), Op(join, ["t", "late"], "y", receives=(101,))]
    scenario, outside = Scenario(device, kernels, ops), Outside(device)
    for _ in range(3):
        expected = scenario.fill(names=["in0"])
        scenario.launch()
        outside.write(scenario.addresses["late"], expected["late"])
        outside.set(scenario.locks[101])
        device.synchronize()
        scenario.check(expected)
        assert device.word(scenario.locks[101]) == 0


@pytest.mark.parametrize("first, join, _", KINDS)
@pytest.mark.parametrize("options", ["", "debug-sync-all=1"])
def test_an_event_sent_and_its_answer_received(device, kernels, first, join, _, options):
    ops = [Op(first, ["in0"], "t", sends=(100,)), Op(first, ["in1"], "u"),
           Op(join, ["u", "answer"], "y", receives=(101,))]
    scenario, outside = Scenario(device, kernels, ops, options), Outside(device)
    for _ in range(3):
        device.write(scenario.locks[100], numpy.zeros(1, numpy.uint64))
        expected = scenario.fill()
        expected["answer"] = expected["t"]
        ops[2].apply(expected)
        outside.wait(scenario.locks[100])
        outside.copy(scenario.addresses["answer"], scenario.addresses["t"], 8192)
        outside.set(scenario.locks[101])
        scenario.launch()
        device.synchronize()
        scenario.check(expected)
        assert device.word(scenario.locks[101]) == 0


def test_two_streams_with_events_outside(device, kernels):
    ops = [Op("triple", ["in0"], "a", stream=0, sends=(1, 100)), Op("scale", ["in1"], "v", stream=1),
           Op("triple", ["late"], "b", stream=0, receives=(101,)),
           Op("combine", ["a", "v"], "y", stream=1, receives=(1,))]
    scenario, outside = Scenario(device, kernels, ops, "stream-fusion=1"), Outside(device)
    for _ in range(3):
        device.write(scenario.locks[100], numpy.zeros(1, numpy.uint64))
        expected = scenario.fill(names=["in0", "in1"])
        scenario.launch()
        outside.wait(scenario.locks[100])
        outside.write(scenario.addresses["late"], expected["late"])  # from ordinary memory: waits for its stream
        outside.set(scenario.locks[101])
        device.synchronize()
        scenario.check(expected)
        assert device.word(scenario.locks[101]) == 0


@pytest.mark.parametrize("name", ["times", "cube_times"])
@pytest.mark.parametrize("key, blocks", [(2, 8), (7, 1), (30, 4)])
def test_a_dynamic_kernel_chooses_by_its_key(device, kernels, name, key, blocks):
    ops = [Op("scale", ["in0"], "t"), Op(name, ["t"], "y", 8, key=key, key_blocks=blocks)]
    scenario = run(device, kernels, ops)
    assert device.word(scenario.dynamic[1][2]) == 0


@pytest.mark.parametrize("first, join, times", KINDS)
@pytest.mark.parametrize("options", ["", "debug-sync-all=1", "feed-sync-all=1"])
def test_a_dynamic_kernel_between_events(device, kernels, first, join, times, options):
    ops = [Op(first, ["in0"], "t", sends=(100,)), Op(times, ["t"], "u", key=7),
           Op(join, ["u", "late"], "y", receives=(101,))]
    scenario, outside = Scenario(device, kernels, ops, options), Outside(device)
    for launch in range(3):
        ops[1].key = (2, 7, 30)[launch]
        device.write(scenario.locks[100], numpy.zeros(1, numpy.uint64))
        expected = scenario.fill(names=["in0"])
        key, blocks, lock = scenario.dynamic[1]
        scenario.launch()
        outside.wait(scenario.locks[100])
        outside.write(scenario.addresses["late"], expected["late"])
        outside.set(key, ops[1].key)
        outside.set(blocks, 2 << launch)
        outside.set(lock)
        outside.set(scenario.locks[101])
        device.synchronize()
        scenario.check(expected)
        assert device.word(lock) == 0 and device.word(scenario.locks[101]) == 0


def test_dynamic_kernels_on_two_streams_whose_events_cross(device, kernels):
    ops = [Op("triple", ["in0"], "a", stream=0, sends=(1,)), Op("scale", ["in1"], "b", stream=1, sends=(2,)),
           Op("cube_times", ["b"], "c", stream=0, receives=(2,), sends=(3,), key=7),
           Op("times", ["a"], "d", stream=1, receives=(1,), key=30, key_blocks=8),
           Op("combine", ["c", "d"], "y", stream=1, receives=(3,))]
    run(device, kernels, ops, "stream-fusion=1", launches=4)


def test_a_key_that_nobody_knows_fails_the_step(device, kernels):
    scenario = Scenario(device, kernels, [Op("scale", ["in0"], "t"), Op("times", ["t"], "y", key=5)])
    scenario.fill()
    scenario.prepare_dynamic()
    scenario.launch()
    with pytest.raises(Failure, match="step 1"):
        device.runtime.aclrtSynchronizeStream(device.stream)


def test_a_fault_names_the_step_the_kernel_and_the_block(device, kernels):
    scenario = Scenario(device, kernels, [Op("scale", ["in0"], "t"), Op("triple", ["t"], "u"), Op("scale", ["u"], "y")])
    scenario.fill()
    right, scenario.addresses["u"] = scenario.addresses["u"], 0x1230
    scenario.launch()
    with pytest.raises(Failure, match="(?s)step 1.*triple.*block"):
        device.runtime.aclrtSynchronizeStream(device.stream)
    scenario.addresses["u"] = right
    expected = scenario.fill()
    device.stream = device.new_stream()
    scenario.launch()
    device.runtime.aclrtSynchronizeStream(device.stream)
    scenario.check(expected)


def test_a_fused_kernel_in_a_graph(device, kernels):
    scenario = Scenario(device, kernels, [Op("scale", ["in0"], "t"), Op("combine", ["t", "in1"], "y", 4)])
    device.runtime.aclmdlRICaptureBegin(device.stream, 0)
    scenario.launch()
    graph = made(lambda out: device.runtime.aclmdlRICaptureEnd(device.stream, out))
    for _ in range(3):
        scenario.clear()
        expected = scenario.fill()
        device.runtime.aclmdlRIExecuteAsync(graph, device.stream)
        device.synchronize()
        scenario.check(expected)
    device.runtime.aclmdlRIDestroy(graph)


def test_many_launches_one_after_the_other(device, kernels):
    scenario = Scenario(device, kernels, two_streams("triple"), "stream-fusion=1")
    expected = scenario.fill()
    for _ in range(200):
        scenario.launch()
    device.synchronize()
    scenario.check(expected)


def test_kernels_that_declare_what_they_read_and_write(device, kernels):
    """The same list, with directions and a temporary instead of plain arguments."""
    import super_kernel
    entries = [dict(kernels("scale"), inputs=["x"], outputs=["t"], workspaces=["w0"]),
               dict(kernels("scale"), inputs=["t"], outputs=["u"], workspaces=["w1"]),
               dict(kernels("combine"), inputs=["u", "x"], outputs=["y"], workspaces=["w2"])]
    infos = {"op_list": entries, "temporaries": ["t", "u"]}
    function = device.load(super_kernel.compile(infos, "fused"), "fused")
    addresses = {name: device.zeros(8192) for name in super_kernel.distinct_strings(infos)}
    for seed in range(3):
        values = numpy.random.default_rng(seed).integers(-8, 8, 2048).astype(numpy.float32)
        device.write(addresses["x"], values)
        device.launch(function, 8, super_kernel.argument_list(infos, addresses))
        device.synchronize()
        numpy.testing.assert_array_equal(device.read(addresses["y"]), (values * 2 + 1) * 2 + 1 + values)


def test_a_list_of_64_kernels(device, kernels):
    ops = [Op("scale" if index % 2 else "triple", [f"t{index}" if index else "in0"], f"t{index + 1}",
              (1, 2, 4, 8)[index % 4]) for index in range(12)]
    ops += [Op("subtract", [f"t{index}", f"t{index}"], f"t{index + 1}", 4) for index in (12,)]
    ops += [Op("combine", [f"t{index}", "in1"], f"t{index + 1}", 8) for index in range(13, 64)]
    run(device, kernels, ops)
