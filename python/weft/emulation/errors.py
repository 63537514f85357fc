"""Emulation errors that a user can fix."""

from __future__ import annotations

from ..errors import WeftError


class EmulationError(WeftError):
    """This scenario cannot be emulated, or not on this machine.

    Attributes:
        hint: What to do instead, if known.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
