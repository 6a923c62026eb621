# SPDX-License-Identifier: Apache-2.0
"""Step times recorded by a fused kernel with ``profiling=1``: begin and end of each block of each kernel.

The layout is that of canopy/fusion_profile.h: a header, and one record for each block and kernel.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import List

from .errors import SuperKernelError

MAGIC = 0x50465943
_HEADER = struct.Struct("<4I6Q")
_RECORD = struct.Struct("<4I2Q")


@dataclass(frozen=True)
class ProfileRecord:
    """One block of one kernel; times in nanoseconds of the monotonic clock."""

    step: int  # the kernel's place in the list
    block: int
    core: int  # the core, if a block runs on several
    begin: int
    end: int


def profile_size(records: int) -> int:
    """Size in bytes of a buffer for this many records."""
    return _HEADER.size + records * _RECORD.size


def read_profile(buffer) -> List[ProfileRecord]:
    """The records in a buffer copied from the device, in the order in which they were written.

    Records that did not fit are missing. Raises SuperKernelError if no launch has written to the buffer.
    """
    content = memoryview(buffer).cast("B")
    if len(content) < _HEADER.size:
        raise SuperKernelError(f"a profile has at least {_HEADER.size} bytes, not {len(content)}")
    magic, version, header_size, record_size, capacity, count = _HEADER.unpack_from(content)[:6]
    if magic != MAGIC or version != 1 or record_size < _RECORD.size:
        raise SuperKernelError("the buffer contains no profile")
    found = min(count, capacity, (len(content) - header_size) // record_size)
    records = (_RECORD.unpack_from(content, header_size + index * record_size) for index in range(found))
    return [ProfileRecord(step, block, core, begin, end) for step, block, core, _, begin, end in records]
