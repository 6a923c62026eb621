# SPDX-License-Identifier: Apache-2.0
"""The order of the kernels of a list, given by their streams and events."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Dict, List, Set

from .errors import SuperKernelError
from .kernels import SubKernel


@dataclass
class Order:
    """Kernels by their index in the list."""

    sequence: List[int]  # all kernels, each after those it waits for
    after: List[List[int]]  # for each kernel, those it waits for, without redundant ones
    outer_sends: List[List[int]]  # events that something outside waits for
    outer_receives: List[List[int]]  # events that something outside sends


def check_events(kernels: List[SubKernel]) -> None:
    """Refuses events that could never be sent or received."""
    if kernels[0].receives:
        raise SuperKernelError(f"the first kernel, {kernels[0].title}, receives the events {kernels[0].receives}; "
                               "only kernels between others may wait for an event")
    if kernels[-1].sends:
        raise SuperKernelError(f"the last kernel, {kernels[-1].title}, sends the events {kernels[-1].sends}; "
                               "only kernels between others may send an event")
    for kernel in kernels:
        both = sorted(set(kernel.sends) & set(kernel.receives))
        if both:
            raise SuperKernelError(f"{kernel.title} sends and receives the same event {both[0]}")
    for stream in sorted({kernel.stream for kernel in kernels}):
        own = [kernel for kernel in kernels if kernel.stream == stream]
        both = sorted({event for kernel in own for event in kernel.sends} &
                      {event for kernel in own for event in kernel.receives})
        if both:
            raise SuperKernelError(f"stream {stream} sends and receives the same event {both[0]}")


def order_kernels(kernels: List[SubKernel], stream_fusion: bool) -> Order:
    """The order of the kernels: sequential, or with `stream_fusion` given by their streams and events."""
    check_events(kernels)
    senders: Dict[int, List[int]] = {}
    receivers: Dict[int, List[int]] = {}
    for index, kernel in enumerate(kernels):
        for event in kernel.sends:
            senders.setdefault(event, []).append(index)
        for event in kernel.receives:
            receivers.setdefault(event, []).append(index)
    edges = _event_edges(kernels, senders)
    if stream_fusion:
        _add_stream_edges(kernels, edges)
        sequence = _sequence(kernels, edges)
        after = _reduced(edges, sequence)
    else:
        _check_one_line(kernels, edges)
        sequence = list(range(len(kernels)))
        after = [[index - 1] if index else [] for index in sequence]
    return Order(sequence, after, [[event for event in kernel.sends if event not in receivers] for kernel in kernels],
                 [[event for event in kernel.receives if event not in senders] for kernel in kernels])


def _event_edges(kernels: List[SubKernel], senders: Dict[int, List[int]]) -> List[Set[int]]:
    return [{sender for event in kernel.receives for sender in senders.get(event, [])} for kernel in kernels]


def _add_stream_edges(kernels: List[SubKernel], edges: List[Set[int]]) -> None:
    last: Dict[int, int] = {}
    for index, kernel in enumerate(kernels):
        if kernel.stream in last:
            edges[index].add(last[kernel.stream])
        last[kernel.stream] = index


def _check_one_line(kernels: List[SubKernel], edges: List[Set[int]]) -> None:
    """Without stream fusion, events must put kernels of different streams in sequence."""
    for index, kernel in enumerate(kernels):
        for sender in edges[index]:
            if sender > index:
                raise SuperKernelError(f"{kernel.title} waits for an event of {kernels[sender].title}, which comes "
                                       "after it; with stream-fusion=1 the order of the list does not matter")
        if index and kernel.stream != kernels[index - 1].stream and not edges[index]:
            raise SuperKernelError(f"{kernels[index - 1].title} and {kernel.title} are on the streams "
                                   f"{kernels[index - 1].stream} and {kernel.stream} without an event between them; "
                                   "this needs stream-fusion=1")


def _sequence(kernels: List[SubKernel], edges: List[Set[int]]) -> List[int]:
    """Returns the kernels in list order, except that each comes after those it waits for."""
    waiting = [len(before) for before in edges]
    followers: List[List[int]] = [[] for _ in edges]
    for index, before in enumerate(edges):
        for earlier in before:
            followers[earlier].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    sequence = []
    while ready:
        index = heapq.heappop(ready)
        sequence.append(index)
        for follower in followers[index]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, follower)
    if len(sequence) < len(kernels):
        stuck = [kernel.title for index, kernel in enumerate(kernels) if waiting[index] > 0]
        raise SuperKernelError(f"the events form a cycle of kernels that wait for each other: {', '.join(stuck)}")
    return sequence


def _reduced(edges: List[Set[int]], sequence: List[int]) -> List[List[int]]:
    """The edges without redundant ones: crossed edges, all but the last send of a stream to a kernel, all but the
    first receive of a stream from a kernel."""
    reach: List[int] = [0] * len(edges)  # bits of all earlier kernels it depends on
    after: List[List[int]] = [[] for _ in edges]
    place = {index: position for position, index in enumerate(sequence)}
    for index in sequence:
        for earlier in sorted(edges[index], key=lambda before: -place[before]):
            if not reach[index] >> earlier & 1:
                after[index].append(earlier)
                reach[index] |= reach[earlier] | 1 << earlier
        after[index].sort()
    return after
