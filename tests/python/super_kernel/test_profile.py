# SPDX-License-Identifier: Apache-2.0
"""With profiling=1 every block of every kernel tells when it ran."""

import numpy
import pytest

import super_kernel
from device import Failure
from scenario import Op, Scenario
from test_scenarios import cube_ops, two_streams, vector_ops


def profile(scenario, size=1 << 16):
    """Launches once and returns the records."""
    expected = scenario.fill()
    scenario.prepare_dynamic()
    scenario.launch()
    scenario.device.synchronize()
    scenario.check(expected)
    return super_kernel.read_profile(scenario.device.read(scenario.profiling[0], size, numpy.uint8).tobytes())


def check_blocks(records, expected):
    """Every step has one record for each of its blocks and cores, and none ends before it begins."""
    assert sorted((record.step, record.block, record.core) for record in records) == sorted(
        (step, block, core) for step, (blocks, cores) in enumerate(expected)
        for block in range(blocks) for core in range(cores))
    for record in records:
        assert 0 < record.begin <= record.end, record


def span(records, step):
    mine = [record for record in records if record.step == step]
    return min(record.begin for record in mine), max(record.end for record in mine)


@pytest.mark.parametrize("options", ["profiling=1", "profiling=1:early-start=0", "profiling=1:debug-sync-all=1",
                                     "profiling=1:feed-sync-all=1"])
@pytest.mark.parametrize("ops, blocks", [(vector_ops, 32), (cube_ops, 16)])
def test_each_kernel_has_a_record_of_each_block(device, kernels, ops, blocks, options):
    scenario = Scenario(device, kernels, ops(), options)
    for _ in range(3):
        records = profile(scenario)
        check_blocks(records, [(blocks, 1), (1, 1)])
        assert span(records, 0)[1] <= span(records, 1)[0], "the second kernel reads what all blocks of the first wrote"


def test_blocks_of_several_cores_have_a_record_of_each_core(device, kernels):
    ops = [Op("mix_one", ["in0"], "t", 4), Op("mix_two", ["t"], "u", 4), Op("scale", ["u"], "y", 8)]
    scenario = Scenario(device, kernels, ops, "profiling=1")
    records = profile(scenario)
    check_blocks(records, [(4, 2), (4, 3), (8, 1)])
    assert span(records, 0)[1] <= span(records, 1)[0] and span(records, 1)[1] <= span(records, 2)[0]


def test_two_streams_are_ordered_where_events_say_so(device, kernels):
    scenario = Scenario(device, kernels, two_streams("triple"), "stream-fusion=1:profiling=1")
    records = profile(scenario)
    check_blocks(records, [(4, 1), (8, 1), (4, 1), (8, 1)])
    assert span(records, 0)[1] <= span(records, 3)[0]
    # Both have 8 blocks, so each of the later ones may follow the one of its number as soon as that has ended.
    first, second = ({record.block: record for record in records if record.step == step} for step in (1, 3))
    assert all(first[block].end <= second[block].begin for block in range(8))


def test_a_dynamic_kernel_has_records_of_the_blocks_it_ran(device, kernels):
    ops = [Op("scale", ["in0"], "t", 8), Op("times", ["t"], "y", 8, key=7, key_blocks=4)]
    records = profile(Scenario(device, kernels, ops, "profiling=1"))
    check_blocks(records, [(8, 1), (4, 1)])


def test_a_small_buffer_keeps_what_fits(device, kernels):
    scenario = Scenario(device, kernels, vector_ops(), "profiling=1")
    small = device.zeros(super_kernel.profile_size(4096))
    behind = super_kernel.profile_size(4096) - super_kernel.profile_size(5)
    scenario.profiling = [small + behind, 9]
    records = profile(scenario, super_kernel.profile_size(5))
    assert len(records) == 5
    header = device.read(small + behind, 8, numpy.uint64)
    assert header[2] in (5, 6), "an allocation has up to 32 bytes more than was asked for"
    assert list(header[3:6]) == [33, 9, 2], "records, number, kernels"
    assert not device.read(small, behind, numpy.uint8).any(), "nothing was written in front of the buffer"


def test_no_buffer_no_times(device, kernels):
    scenario = Scenario(device, kernels, vector_ops(), "profiling=1")
    scenario.profiling = [0, 1]
    expected = scenario.fill()
    scenario.launch()
    device.synchronize()
    scenario.check(expected)


def test_a_buffer_elsewhere_is_refused(device, kernels):
    scenario = Scenario(device, kernels, vector_ops(), "profiling=1")
    host = numpy.zeros(4096, numpy.uint8)
    for address in (host.ctypes.data, scenario.profiling[0] + 1, 0x1230):
        scenario.profiling[0:1] = [address]
        with pytest.raises(Failure, match="profiling buffer"):
            scenario.launch()
    with pytest.raises(super_kernel.SuperKernelError, match="no profile"):
        super_kernel.read_profile(host)
