# SPDX-License-Identifier: Apache-2.0
"""A fixture for pytest. In conftest.py:

    pytest_plugins = ["canopy.pytest_plugin"]

Tests that use the fixture `canopy_checking` fail if their kernels or streams would do something wrong on a chip.
`--canopy-check` checks all tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .checks import checking, prepare_checks


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--canopy-check", action="store_true", help="check the kernels and streams of all tests")


def pytest_configure(config: pytest.Config) -> None:
    prepare_checks()  # before a test opens a device


@pytest.fixture
def canopy_checking() -> Iterator[checking]:
    """Checks the test; findings of level error fail it."""
    with checking() as part:
        yield part


@pytest.fixture(autouse=True)
def _canopy_check_all(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--canopy-check"):
        request.getfixturevalue("canopy_checking")
