# SPDX-License-Identifier: Apache-2.0
"""The chips of super kernels are those of the runtime."""

import pathlib
import re

import pytest

from super_kernel import SuperKernelError
from super_kernel.chips import DEFAULT_CHIP, find_chip

TABLE = pathlib.Path(__file__).resolve().parents[3] / "include" / "canopy" / "chips.h"
ROW = re.compile(r'row\("(\w+)", "(\w+)", "\w+", (\d+), \{(\d+), (\d+),')


def rows():
    found = ROW.findall(TABLE.read_text(encoding="utf-8"))
    assert len(found) >= 12
    return [(name, family, int(architecture), int(cube), int(vector))
            for name, family, architecture, cube, vector in found]


def test_figures_are_those_of_the_table():
    assert rows()[0][0] == DEFAULT_CHIP
    seen = set()
    for name, family, architecture, cube, vector in rows():
        if architecture not in (2201, 3510):
            with pytest.raises(SuperKernelError):
                find_chip(name)
            continue
        chip = find_chip(name)
        assert (chip.architecture, chip.cube_cores, chip.vector_cores) == (architecture, cube, vector), name
        if family not in seen:  # a family's name is its first row
            assert find_chip(family)[1:] == chip[1:], family
        seen.add(family)
