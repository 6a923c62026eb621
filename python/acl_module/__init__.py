# SPDX-License-Identifier: Apache-2.0
# The package acl. Everything in it comes from the extension module next to this file; this file turns errors of the
# interpreter and of the dynamic loader into one line that says what to do.
import os as _os
import sys as _sys

_PYTHON = f"Python {_sys.version_info[0]}.{_sys.version_info[1]} ({_sys.executable or _sys.implementation.name})"
_REINSTALL = "install the canopy package or the canopy-acl wheel again"

if _sys.version_info < (3, 9):
    raise ImportError(f"acl needs Python 3.9 or later, and this is {_PYTHON}: use another one, like /usr/bin/python3")


def _explain(problem: ImportError) -> str:
    message = str(problem)
    if isinstance(problem, ModuleNotFoundError):
        path = _os.path.join(_os.path.dirname(__file__), "_acl.abi3.so")
        if _os.path.exists(path):
            return (f"{_PYTHON} does not load extensions of CPython's stable ABI (PyPy and free-threaded builds do "
                    "not): use another one, like /usr/bin/python3")
        return f"{path} is missing: {_REINSTALL}"
    if "GLIBC" in message or "CXXABI" in message:
        return (f"{message}: {_PYTHON} runs with a C or C++ library older than the one Canopy was built with; update it "
                "(in conda: libstdcxx-ng), or use /usr/bin/python3")
    if "undefined symbol" in message:
        return (f"{message}: libascendcl.so is of another version or of another toolkit; {_REINSTALL}, and see that "
                "LD_PRELOAD does not name another libascendcl.so")
    if "libascendcl" in message:
        return f"{message}: the library of the module is missing or damaged; {_REINSTALL}"
    return message


try:
    from ._acl import *  # noqa: F403
    from . import _acl
except ImportError as _problem:
    raise ImportError(_explain(_problem), name="acl") from None

__doc__ = _acl.__doc__
