# SPDX-License-Identifier: Apache-2.0
"""The exception that this package raises for invalid input."""


class SuperKernelError(Exception):
    """An invalid list of kernels, option or file. The message begins with the code EB0500."""

    code = "EB0500"

    def __init__(self, text: str) -> None:
        super().__init__(f"{self.code}: {text}")
