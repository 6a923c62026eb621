# SPDX-License-Identifier: Apache-2.0
"""Canopy for Python: NPU kernels on numpy arrays.

    import canopy, numpy as np

    x = canopy.array(np.arange(4096, dtype=np.float32))
    y = canopy.empty_like(x)
    scale = canopy.load("scale.asc")["scale"]     # compiled once, then cached
    scale(8)(x, y, x.size)                        # 8 blocks on the default stream
    print(y.numpy())

The first call that needs a device opens it. Errors raise `canopy.Error` with the code and message of the runtime. For
everything else use the module `acl`; pass `int(array)`, `stream.handle` and `kernel.handle` to its functions.
"""

import acl  # noqa: F401  its errors say what is wrong with the installation or the interpreter

try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    import sys
    raise ImportError("canopy needs numpy, and this Python has none: run "
                      f"{sys.executable or 'python3'} -m pip install numpy, or on Debian apt install python3-numpy",
                      name="canopy") from None

from .arrays import Array, array, empty, empty_like, shared_array, zeros
from .checks import CheckError, checking, prepare_checks
from .device import Device, current_device, synchronize
from .errors import Error, QueueEmpty, QueueEnd, QueueFull
from .graphs import Graph
from .kernels import Kernel, Library, compile_image, load
from .profiles import Profile, mark, profile
from .profiles import Range as range  # noqa: A004  not in __all__
from .queues import Queue
from .streams import Event, Notify, Stream, current_stream

__all__ = [
    "Array", "CheckError", "Device", "Error", "Event", "Graph", "Kernel", "Library", "Notify", "Profile", "Queue", "QueueEmpty",
    "QueueEnd", "QueueFull", "Stream", "array", "checking", "compile_image", "current_device", "current_stream", "empty",
    "empty_like", "load", "mark", "prepare_checks", "profile", "shared_array", "synchronize", "zeros",
]
