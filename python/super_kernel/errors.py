# SPDX-License-Identifier: Apache-2.0
"""The one kind of error this package raises about what it was given."""


class SuperKernelError(Exception):
    """A list of kernels, an option or a file that cannot be used. The text begins with the code EB0500."""

    code = "EB0500"

    def __init__(self, text: str) -> None:
        super().__init__(f"{self.code}: {text}")
