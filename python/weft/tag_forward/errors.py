"""What can go wrong between a fat-tree's plan and its switches for reasons a user can mend."""

from __future__ import annotations

from ..errors import WeftError


class TagForwardError(WeftError):
    """There is no plan, or the switches are not those of the plan.

    Attributes:
        hint: What to do instead, if there is anything.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class DaemonError(TagForwardError):
    """One switch cannot be told; the others can."""


class UnreachableError(DaemonError):
    """Its daemon does not answer."""


class RefusedError(DaemonError):
    """Its daemon has refused a request.

    Attributes:
        status: HTTP's.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
