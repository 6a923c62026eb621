# SPDX-License-Identifier: Apache-2.0
"""Canopy for Python: kernels of an NPU on numpy arrays.

    import canopy, numpy as np

    x = canopy.array(np.arange(4096, dtype=np.float32))
    y = canopy.empty_like(x)
    scale = canopy.load("scale.asc")["scale"]     # compiles, or finds it compiled
    scale(8)(x, y, x.size)                        # 8 blocks on the default stream
    print(y.numpy())

A device is opened by the first call that needs one. Everything that fails raises `canopy.Error` with the code and the
text of the runtime. What the runtime offers beyond this is in the module `acl`; `int(array)`, `stream.handle` and
`kernel.handle` are what its functions take.
"""

import acl  # noqa: F401  its errors say what is wrong with the installation or the interpreter

try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    import sys
    raise ImportError("canopy needs numpy, and this Python has none: run "
                      f"{sys.executable or 'python3'} -m pip install numpy, or on Debian apt install python3-numpy",
                      name="canopy") from None

from .arrays import Array, array, empty, empty_like, zeros
from .device import Device, current_device, synchronize
from .errors import Error
from .graphs import Graph
from .kernels import Kernel, Library, compile_image, load
from .streams import Event, Stream, current_stream

__all__ = [
    "Array", "Device", "Error", "Event", "Graph", "Kernel", "Library", "Stream", "array", "compile_image",
    "current_device", "current_stream", "empty", "empty_like", "load", "synchronize", "zeros",
]
