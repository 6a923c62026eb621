#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the Python packages of an install tree and the library they need into a wheel for pip.

    python/make_wheel.py --tree FOLDER [--output FOLDER]
"""
import argparse
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: canopy-acl
Version: {version}
Summary: The AscendCL runtime interface on a software NPU
License: Apache-2.0
License-File: LICENSE
License-File: copyright
Requires-Python: >=3.9
Provides-Extra: arrays
Requires-Dist: numpy; extra == "arrays"
Description-Content-Type: text/plain

The Python modules acl, canopy and super_kernel with the runtime library. Modules that compile kernels need canopy-cc of
the Debian package canopy or of an install tree.
"""
WHEEL = """Wheel-Version: 1.0
Generator: canopy make_wheel
Root-Is-Purelib: false
Tag: {tag}
"""
SOURCE = pathlib.Path(__file__).resolve().parent.parent
LICENSES = (SOURCE / "LICENSE", SOURCE / "packaging" / "debian" / "copyright")


def version_of(tree):
    text = (tree / "share" / "info" / "runtime" / "version.info").read_text(encoding="utf-8")
    return re.search(r"^canopy_version=(\S+)$", text, re.MULTILINE)[1]


def machine_of(library):
    """pip's name for the machine of an ELF file."""
    number = int.from_bytes(library.read_bytes()[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}.get(number) or sys.exit(f"make_wheel: {library} is for an unknown machine")


def contents(tree, version, tag):
    """Yields the name in the wheel and the bytes of each file."""
    packages = tree / "python" / "site-packages"
    for path in sorted(packages.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(packages).as_posix(), path.read_bytes()
    # The module looks for the library here if it is not in an install tree.
    yield "acl/lib/libascendcl.so", (tree / "lib64" / "libascendcl.so").read_bytes()
    folder = f"canopy_acl-{version}.dist-info"
    for path in LICENSES:
        yield f"{folder}/{path.name}", path.read_bytes()
    yield f"{folder}/METADATA", METADATA.format(version=version).encode()
    yield f"{folder}/WHEEL", WHEEL.format(tag=tag).encode()


def entry(name):
    """The entry of a file, without a timestamp, so that the same tree gives the same wheel."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o100644 << 16
    return info


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True, help="the folder given to cmake --install")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="where the wheel goes")
    arguments = parser.parse_args()
    module = arguments.tree / "python" / "site-packages" / "acl" / "_acl.abi3.so"
    if not module.is_file():
        sys.exit(f"make_wheel: {module} does not exist; install a build with the Python module first")
    version = version_of(arguments.tree)
    tag = f"cp39-abi3-linux_{machine_of(module)}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / f"canopy_acl-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents(arguments.tree, version, tag):
            wheel.writestr(entry(name), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        name = f"canopy_acl-{version}.dist-info/RECORD"
        wheel.writestr(entry(name), "\n".join([*record, f"{name},,", ""]))
    print(path)


if __name__ == "__main__":
    main()
