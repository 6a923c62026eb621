# SPDX-License-Identifier: Apache-2.0
"""Where arguments lie in the block of a fused kernel."""

import pytest

import super_kernel
from super_kernel.chips import find_chip
from super_kernel.kernels import SubKernel
from super_kernel.kinds import Kind
from super_kernel.options import parse_options
from super_kernel.slots import lay_out

A2, A5 = find_chip("Ascend910B1"), find_chip("Ascend950PR_9599")


def kernel(parameters, **more):
    return SubKernel(number=0, image="", function="k", kind=Kind.AIV_ONLY, blocks=1,
                     parameters=[f"p{index}" for index in range(parameters)], **more)


IS_INF, POWS = 3, 4  # parameters, the workspace among them


def places(kernels, options="", chip=A2):
    return lay_out(kernels, parse_options(options), chip)


def test_the_known_offsets():
    layout = places([kernel(IS_INF), kernel(POWS), kernel(IS_INF)])
    assert [place.parameters for place in layout.places] == [1, 4, 8]
    assert layout.count == 11 and layout.workspace_slot is None


def test_a_chip_without_control_address_begins_at_once():
    layout = places([kernel(IS_INF), kernel(POWS)], chip=A5)
    assert [place.parameters for place in layout.places] == [0, 3] and layout.count == 7


def test_feed_sync_all_adds_a_workspace_at_the_end():
    layout = places([kernel(IS_INF), kernel(POWS)], "feed-sync-all=1")
    assert layout.workspace_slot == 8 and layout.workspaces == [16384] and layout.count == 9


def test_profiling_adds_two_slots_behind_the_workspace():
    layout = places([kernel(IS_INF), kernel(POWS)], "feed-sync-all=1:profiling=1")
    assert layout.workspace_slot == 8 and layout.profiling_slot == 9 and layout.count == 11
    assert places([kernel(IS_INF)], "profiling=1").profiling_slot == 4


def test_a_dynamic_kernel_has_three_more():
    layout = places([kernel(IS_INF, dynamic=True), kernel(POWS)])
    assert layout.places[0].dynamic == 4 and layout.places[1].parameters == 7


def test_events_have_a_slot_each_notified_before_awaited():
    layout = places([kernel(IS_INF, sends=[7]), kernel(POWS, sends=[1, 2], receives=[3, 4]), kernel(IS_INF)])
    first, second, third = layout.places
    assert (first.parameters, first.notify, first.wait, first.end) == (1, 4, 5, 5)
    assert (second.parameters, second.notify, second.wait, second.end) == (5, 9, 11, 13)
    assert third.parameters == 13


def test_a_dynamic_kernel_with_events():
    place = places([kernel(IS_INF), kernel(IS_INF, dynamic=True, sends=[1], receives=[2])]).places[1]
    assert (place.parameters, place.dynamic, place.notify, place.wait, place.end) == (4, 7, 10, 11, 12)


@pytest.mark.parametrize("word", ["printf", "assert", "printf,timestamp"])
def test_printing_kernels_get_a_buffer(word):
    layout = places([kernel(IS_INF, metadata={"debugOptions": word, "debugBufSize": 4096}), kernel(IS_INF)],
                    "feed-sync-all=1")
    assert layout.workspaces == [16384, 4096] and layout.workspace_slot == 7 and layout.count == 9


def test_arguments_come_from_equal_strings(kernels):
    infos = {"op_list": [
        dict(kernels("combine"), inputs=["a", "b"], outputs=["t"], workspaces=["w"]),
        dict(kernels("scale"), inputs=["t"], outputs=["y"], workspaces=["w"])]}
    assert super_kernel.distinct_strings(infos) == ["a", "b", "t", "w", "y"]
    values = {name: 100 + index for index, name in enumerate("abtwy")}
    assert super_kernel.argument_list(infos, values, control=9) == [9, 100, 101, 102, 103, 102, 104, 103]


def test_arguments_with_locks_dynamic_words_and_workspace(kernels):
    infos = {"op_list": [
        dict(kernels("scale"), arguments=["x", "t", "w"], stream_id=0, send_event_list=[5]),
        dict(kernels("times"), arguments=["t", "y", "w"], stream_id=0, task_type="dynamic", recv_event_list=[6]),
    ], "super_kernel_options": "feed-sync-all=1"}
    block = super_kernel.argument_list(infos, {"x": 1, "t": 2, "y": 3, "w": 4}, control=8, locks={5: 50, 6: 60},
                                       dynamic={1: [70, 71, 72]}, workspaces=[90])
    assert block == [8, 1, 2, 4, 50, 2, 3, 4, 70, 71, 72, 60, 90]


def test_a_string_without_an_address_is_refused(kernels):
    infos = {"op_list": [dict(kernels("scale"), arguments=["x", "y", "w"])]}
    with pytest.raises(super_kernel.SuperKernelError, match="^EB0500.*'y'"):
        super_kernel.argument_list(infos, {"x": 1, "w": 2})


def test_a_list_without_strings_has_no_topology(kernels):
    with pytest.raises(super_kernel.SuperKernelError, match="^EB0500.*no strings"):
        super_kernel.distinct_strings({"op_list": [kernels("scale")]})
