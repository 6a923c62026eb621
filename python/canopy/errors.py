# SPDX-License-Identifier: Apache-2.0
"""How failures of the runtime become exceptions."""

import acl


class Error(RuntimeError):
    """A call of the runtime failed. `code` is its number, `text` what the runtime says about it."""

    def __init__(self, code: int, what: str, text: str = "") -> None:
        self.code = code
        self.what = what
        self.text = text
        super().__init__(f"{what}: {code}" + (f"\n{text}" if text else ""))


def check(code: int, what: str) -> None:
    """Raises unless the code is 0. `what` says in a few words what was tried."""
    if code != 0:
        raise Error(code, what, (acl.get_recent_err_msg() or "").strip())
