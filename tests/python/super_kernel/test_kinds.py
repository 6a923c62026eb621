# SPDX-License-Identifier: Apache-2.0
"""The kind and the block count of a fused kernel, by the kinds and blocks of what it holds."""

import pytest

from super_kernel import SuperKernelError
from super_kernel.kinds import Kind, fused_shape, needed_cores, read_kind

V, VM, C, CM = Kind.AIV_ONLY, Kind.MIX_AIV_1_0, Kind.AIC_ONLY, Kind.MIX_AIC_1_0
ONE, TWO = Kind.MIX_AIC_1_1, Kind.MIX_AIC_1_2

TABLE = [
    # all on vector cores
    ([(V, 32), (V, 1)], VM, 32, "0:1"),
    ([(VM, 8), (V, 48)], VM, 48, "0:1"),
    ([(VM, 5)], VM, 5, "0:1"),
    # all on cube cores
    ([(C, 24), (C, 3)], CM, 24, "1:0"),
    ([(CM, 2), (C, 7)], CM, 7, "1:0"),
    # all one to one
    ([(ONE, 4), (ONE, 9)], ONE, 9, "1:1"),
    # others: as many vector cores as cube cores are enough
    ([(C, 8), (V, 8)], ONE, 8, "1:1"),
    ([(C, 24), (V, 3)], ONE, 24, "1:1"),
    ([(ONE, 4), (C, 10)], ONE, 10, "1:1"),
    ([(ONE, 8), (V, 8)], ONE, 8, "1:1"),
    # others: more vector cores than cube cores
    ([(C, 8), (V, 9)], TWO, 8, "1:2"),
    ([(C, 8), (V, 48)], TWO, 24, "1:2"),
    ([(C, 1), (V, 5)], TWO, 3, "1:2"),
    ([(TWO, 6)], TWO, 6, "1:2"),
    ([(TWO, 6), (V, 20)], TWO, 10, "1:2"),
    ([(TWO, 6), (C, 20)], ONE, 20, "1:1"),
    ([(ONE, 4), (V, 16)], TWO, 8, "1:2"),
    ([(ONE, 4), (TWO, 4)], TWO, 4, "1:2"),
]


@pytest.mark.parametrize("held, kind, blocks, ratio", TABLE)
def test_kind_and_blocks(held, kind, blocks, ratio):
    shape = fused_shape(held)
    assert (shape.kind, shape.blocks, shape.kind.ratio) == (kind, blocks, ratio)


FORCED = [
    (24, 0, CM, 24), (0, 40, VM, 40), (20, 20, ONE, 20), (20, 40, TWO, 20), (1, 2, TWO, 1),
]


@pytest.mark.parametrize("aic, aiv, kind, blocks", FORCED)
def test_numbers_of_cores_can_be_forced(aic, aiv, kind, blocks):
    assert fused_shape([(V, 32), (C, 4)], aic, aiv) == (kind, blocks)


@pytest.mark.parametrize("aic, aiv", [(0, 0), (3, 4), (4, 3), (2, 6), (1, 3), (8, 24)])
def test_other_ratios_are_refused(aic, aiv):
    with pytest.raises(SuperKernelError, match="^EB0500.*ratio"):
        fused_shape([(V, 32)], aic, aiv)


def test_one_forced_number_leaves_the_other_as_it_is():
    assert fused_shape([(C, 4), (V, 8)], aic=8) == (ONE, 8)
    assert fused_shape([(C, 4), (V, 8)], aiv=4) == (ONE, 4)
    with pytest.raises(SuperKernelError):
        fused_shape([(C, 4), (V, 8)], aic=3)


def test_needed_cores_are_the_most_of_one_kernel():
    assert needed_cores([(TWO, 6), (V, 20), (C, 9)]) == (9, 20)


@pytest.mark.parametrize("kind", list(Kind))
def test_kinds_are_read_with_and_without_their_prefix(kind):
    assert read_kind(kind.value, "x") is kind
    assert read_kind(kind.full_name, "x") is kind


@pytest.mark.parametrize("name", ["KERNEL_TYPE_AICORE", "MIX_AIC_1_3", "", None, 7])
def test_other_kinds_are_refused(name):
    with pytest.raises(SuperKernelError, match="^EB0500.*cannot be fused"):
        read_kind(name, "x")
