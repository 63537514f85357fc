"""What can go wrong with an emulation for reasons a user can mend."""

from __future__ import annotations

from ..errors import WeftError


class EmulationError(WeftError):
    """This scenario cannot be emulated, or not on this machine.

    Attributes:
        hint: What to do instead, if there is anything.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
