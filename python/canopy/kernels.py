# SPDX-License-Identifier: Apache-2.0
"""Kernels: compiled from source or loaded from an image, called with device arrays and numbers."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Sequence

import acl
import numpy as np

from .arrays import Array
from .device import Device, current_device
from .errors import check
from .library import parameters_of
from .streams import Stream, current_stream

FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}


class CompileError(RuntimeError):
    """The compiler refused a source; the message is its output."""


def cache_directory() -> Path:
    """Folder for compiled images: CANOPY_CACHE_DIR, or canopy in the user's cache folder."""
    chosen = os.environ.get("CANOPY_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "canopy"


def cache_size() -> int:
    """Maximum total size of the images in bytes: CANOPY_CACHE_SIZE, like 512M; 512 MiB if it is not set or invalid."""
    size = re.fullmatch(r"(\d+)([kKmMgGtT]?)(?:B|iB)?", os.environ.get("CANOPY_CACHE_SIZE", ""))
    return int(size[1]) << 10 * " KMGT".index(size[2].upper() or " ") if size else 512 << 20


def _forget_oldest(folder: Path, needed: set[Path]) -> None:
    """Removes the least recently used images until the rest fit; never those that are needed now."""
    files = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process may be removing images too
            if path.is_file():
                files.append((path.stat().st_mtime_ns, path.stat().st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= cache_size():
            return
        if path not in needed:
            path.unlink(missing_ok=True)
            total -= size


def find_compiler() -> str:
    """Finds canopy-cc: CANOPY_CC, else in the install tree of this package, else in PATH."""
    chosen = os.environ.get("CANOPY_CC")
    if chosen:
        return chosen
    for folder in Path(__file__).resolve().parents:
        if (folder / "bin" / "canopy-cc").is_file():
            return str(folder / "bin" / "canopy-cc")
    found = shutil.which("canopy-cc")
    if not found:
        raise FileNotFoundError("canopy-cc was not found: install the canopy package, source set_env.sh of an "
                                "install tree, or name it with CANOPY_CC")
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_current(record: Path) -> bool:
    """Whether all files that an image was compiled from are unchanged."""
    try:
        for line in record.read_text().splitlines():
            digest, _, name = line.partition(" ")
            if _digest(Path(name)) != digest:
                return False
    except OSError:
        return False
    return True


def _dependencies(text: str) -> list[Path]:
    """The prerequisites of a makefile rule."""
    words = text.partition(":")[2].replace("\\\n", " ").replace("\\ ", "\0").split()
    return [Path(word.replace("\0", " ")) for word in words]


def compile_image(source: str | os.PathLike[str], options: Sequence[str] = ("-O2", "-g")) -> Path:
    """Compiles a kernel source to an image and returns its path. The image is cached until the source, an included
    header, the options or the compiler change."""
    path = Path(source).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"source file {path} does not exist")
    compiler = find_compiler()
    stamp = os.stat(compiler)
    key = "\0".join([str(path), compiler, str(stamp.st_mtime_ns), str(stamp.st_size), *options])
    folder = cache_directory() / "images"
    name = f"{path.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    image, record = folder / f"{name}.o", folder / f"{name}.from"
    if image.is_file() and _is_current(record):
        for used in (image, record):
            with contextlib.suppress(OSError):  # the cache may be read-only
                os.utime(used)
        return image
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made, rule = Path(work) / "image.o", Path(work) / "image.d"
        command = [compiler, "--image", *options, "-MD", "-MF", str(rule), str(path), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"{path} does not compile:\n{done.stderr}")
        files = {path, *(_dependencies(rule.read_text()) if rule.is_file() else [])}
        lines = "".join(f"{_digest(file)} {file}\n" for file in sorted(files) if file.is_file())
        (Path(work) / "from").write_text(lines)
        os.replace(made, image)
        os.replace(Path(work) / "from", record)
    _forget_oldest(folder, {image, record})
    return image


class Library:
    """The kernels of an image; get one with `library["name"]`."""

    def __init__(self, image: str | os.PathLike[str]) -> None:
        self.path = Path(image)
        current_device()
        self.handle, code = acl.rt.binary_load_from_file(str(self.path), [])
        check(code, f"loading {self.path}")
        self._kernels: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> "Kernel":
        kernel = self._kernels.get(name)
        if kernel is None:
            handle, code = acl.rt.binary_get_function(self.handle, name)
            check(code, f"looking for kernel {name} in {self.path}")
            kernel = self._kernels[name] = Kernel(self, name, handle)
        return kernel

    def close(self) -> None:
        """Unloads the image. Its kernels can no longer be launched."""
        handle, self.handle = self.handle, 0
        self._kernels.clear()
        if handle:
            check(acl.rt.binary_unload(handle), f"unloading {self.path}")

    def __enter__(self) -> "Library":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"canopy.Library({str(self.path)!r})"


class Kernel:
    """A kernel. `kernel(blocks, stream)(arguments...)` launches it; the default is the thread's current stream."""

    def __init__(self, library: Library, name: str, handle: int) -> None:
        self.library = library
        self.name = name
        self.handle = handle
        self.parameters = parameters_of(handle)
        self._size = max((offset + (size + 7) // 8 * 8 for offset, size in self.parameters), default=8)

    def __call__(self, blocks: int = 1, stream: Stream | None = None) -> "Launch":
        return Launch(self, blocks, stream or current_stream())

    def __repr__(self) -> str:
        return f"canopy.Kernel({self.name!r}, {len(self.parameters)} parameters)"


class Launch:
    """A kernel with its block count and stream; call it with the arguments to launch."""

    def __init__(self, kernel: Kernel, blocks: int, stream: Stream | None) -> None:
        self.kernel = kernel
        self.blocks = blocks
        self.stream = stream

    def __call__(self, *arguments: Any) -> None:
        kernel = self.kernel
        if len(arguments) != len(kernel.parameters):
            raise TypeError(f"kernel {kernel.name} takes {len(kernel.parameters)} arguments, not {len(arguments)}")
        device = self.stream.device if self.stream else current_device()
        block = bytearray(kernel._size)
        for index, (value, (offset, size)) in enumerate(zip(arguments, kernel.parameters)):
            try:
                block[offset:offset + size] = argument_bytes(value, size, device)
            except (TypeError, ValueError, OverflowError, struct.error) as problem:
                raise type(problem)(f"argument {index} of kernel {kernel.name}: {problem}") from None
        code = acl.rt.launch_kernel_with_host_args(
            kernel.handle, self.blocks, self.stream.handle if self.stream else 0, [], block, len(block), [], 0)
        check(code, f"launching {kernel.name}")


def argument_bytes(value: Any, size: int, device: Device) -> bytes:
    """Converts an argument to the bytes of a parameter of that size."""
    if isinstance(value, Array):
        if value.device != device:
            raise ValueError(f"the array is on device {value.device.index}, "
                             f"but the kernel runs on device {device.index}")
        value = int(value)
    elif isinstance(value, np.ndarray):
        raise TypeError("a numpy array is host memory; copy it to the device with canopy.array")
    if value is None:
        value = 0
    if isinstance(value, (bool, int)):
        if value < 0:
            return value.to_bytes(size, "little", signed=True)
        return value.to_bytes(size, "little")
    if isinstance(value, float):
        if size not in FLOAT_FORMATS:
            raise TypeError(f"a float does not fit a parameter of {size} bytes")
        return struct.pack(FLOAT_FORMATS[size], value)
    if isinstance(value, np.generic):
        value = value.tobytes()
    elif isinstance(value, (ctypes.Structure, ctypes.Array, ctypes._SimpleCData)):  # noqa: SLF001
        value = bytes(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        if len(bytes(value)) != size:
            raise ValueError(f"{len(bytes(value))} bytes do not fit a parameter of {size}")
        return bytes(value)
    raise TypeError(f"a {type(value).__name__} cannot be an argument")


def load(path: str | os.PathLike[str], options: Sequence[str] = ("-O2", "-g")) -> Library:
    """Loads the kernels of a source (`.asc`, `.cpp`), which is compiled first, or of an image (`.o`)."""
    return Library(path if Path(path).suffix == ".o" else compile_image(path, options))
