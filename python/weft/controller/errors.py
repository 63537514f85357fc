"""What can go wrong with a controller for reasons a user can mend."""

from __future__ import annotations

from ..errors import WeftError


class ControllerError(WeftError):
    """The controller cannot start, or cannot be asked.

    Attributes:
        hint: What to do instead, if there is anything.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
