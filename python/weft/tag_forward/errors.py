"""Errors of plans and provisioning that a user can fix."""

from ..errors import WeftError


class TagForwardError(WeftError):
    """The plan cannot be made, or the switches do not match it."""


class DaemonError(TagForwardError):
    """One switch cannot be provisioned; the others can."""


class UnreachableError(DaemonError):
    """Its daemon does not respond."""


class RefusedError(DaemonError):
    """Its daemon refused a request, with an HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
