# SPDX-License-Identifier: Apache-2.0
"""The order that streams and events give to the kernels of a list."""

import random

import pytest

from super_kernel import SuperKernelError
from super_kernel.kernels import SubKernel
from super_kernel.kinds import Kind
from super_kernel.streams import order_kernels


def kernels(*rows):
    """Rows of (stream, events sent, events received)."""
    return [SubKernel(number=number, image="", function=f"k{number}", kind=Kind.AIV_ONLY, blocks=1, parameters=[],
                      stream=stream, sends=list(sends), receives=list(receives))
            for number, (stream, sends, receives) in enumerate(rows)]


def test_one_stream_is_a_line():
    order = order_kernels(kernels((0, [], []), (0, [], []), (0, [], [])), False)
    assert order.sequence == [0, 1, 2] and order.after == [[], [0], [1]]


def test_one_stream_stays_a_line_with_stream_fusion():
    rows = kernels((0, [], []), (0, [], []), (0, [], []))
    assert order_kernels(rows, True) == order_kernels(rows, False)


def test_two_streams_with_an_event_between_neighbours_are_a_line():
    order = order_kernels(kernels((0, [1], []), (1, [], [1])), False)
    assert order.after == [[], [0]]
    assert order.outer_sends == [[], []] and order.outer_receives == [[], []]


def test_two_streams_without_an_event_need_stream_fusion():
    rows = kernels((0, [], []), (1, [], []))
    with pytest.raises(SuperKernelError, match="^EB0500.*stream-fusion=1"):
        order_kernels(rows, False)
    assert order_kernels(rows, True).after == [[], []]


def test_streams_run_beside_each_other_and_meet_in_events():
    order = order_kernels(kernels((0, [], []), (1, [], []), (0, [1], []), (1, [], [1])), True)
    assert order.after == [[], [], [0], [1, 2]]


def test_crossed_edges_are_dropped():
    # cube: c0 c2, vector: v1 v3; c0 -> v3 is implied by c0 -> v1 -> v3, and by c2 -> v3
    order = order_kernels(kernels((0, [1, 2], []), (1, [], [1]), (0, [3], []), (1, [], [2, 3])), True)
    assert order.after == [[], [0], [0], [1, 2]]
    # c0 -> v3 and c1 -> v2 cross: the first one is implied
    order = order_kernels(kernels((0, [1], []), (0, [2], []), (1, [], [2]), (1, [], [1])), True)
    assert order.after == [[], [0], [1], [2]]


def test_of_several_sends_the_last_one_counts_and_of_several_receives_the_first():
    order = order_kernels(kernels((0, [1], []), (0, [2], []), (1, [], []), (1, [], [1, 2]), (1, [], [1])), True)
    assert order.after == [[], [0], [], [1, 2], [3]]


def test_events_with_one_end_outside_are_kept():
    order = order_kernels(kernels((0, [100], []), (0, [7], [101]), (1, [], [7])), False)
    assert order.outer_sends == [[100], [], []] and order.outer_receives == [[], [101], []]


def test_the_list_need_not_be_in_order_with_stream_fusion():
    rows = kernels((0, [], []), (1, [], []), (1, [], [5]), (0, [5], []), (0, [], []))
    order = order_kernels(rows, True)
    assert order.sequence == [0, 1, 3, 2, 4] and order.after == [[], [], [1, 3], [0], [3]]
    with pytest.raises(SuperKernelError, match="^EB0500"):
        order_kernels(rows, False)


def test_circles_are_refused():
    with pytest.raises(SuperKernelError, match="^EB0500.*cycle"):
        order_kernels(kernels((0, [], []), (0, [1], [2]), (1, [2], [1]), (1, [], [])), True)


@pytest.mark.parametrize("rows, text", [
    ([(0, [], [1]), (0, [], [])], "first kernel"),
    ([(0, [], []), (0, [1], [])], "last kernel"),
    ([(0, [], []), (0, [1], [1]), (0, [], [])], "same event 1"),
    ([(0, [], []), (0, [4], []), (0, [], [4]), (0, [], [])], "stream 0 sends and receives the same event 4"),
])
@pytest.mark.parametrize("stream_fusion", [False, True])
def test_impossible_events_are_refused(rows, text, stream_fusion):
    with pytest.raises(SuperKernelError, match=f"^EB0500.*{text}"):
        order_kernels(kernels(*rows), stream_fusion)


def reachable(after):
    reach = {}
    for index in sorted(range(len(after)), key=lambda index: (len(all_before(after, index)), index)):
        reach[index] = all_before(after, index)
    return reach


def all_before(after, index):
    found, left = set(), list(after[index])
    while left:
        earlier = left.pop()
        if earlier not in found:
            found.add(earlier)
            left.extend(after[earlier])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_reduction_keeps_the_order_and_no_edge_too_many(seed):
    generator = random.Random(seed)
    count = generator.randint(2, 24)
    streams = [generator.randrange(3) for _ in range(count)]
    sends = [[] for _ in range(count)]
    receives = [[] for _ in range(count)]
    full = [set() for _ in range(count)]
    last = {}
    for index, stream in enumerate(streams):
        if stream in last:
            full[index].add(last[stream])
        last[stream] = index
    for event in range(generator.randint(0, 20)):
        first, second = sorted(generator.sample(range(count), 2))
        if streams[first] != streams[second]:
            sends[first].append(event)
            receives[second].append(event)
            full[second].add(first)
    order = order_kernels(kernels(*zip(streams, sends, receives)), True)
    assert reachable(order.after) == reachable([sorted(before) for before in full])
    for index, before in enumerate(order.after):
        for earlier in before:
            assert not any(earlier in all_before(order.after, other) for other in before if other != earlier)
