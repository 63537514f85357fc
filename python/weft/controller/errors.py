"""Controller errors that a user can fix."""

from ..errors import WeftError


class ControllerError(WeftError):
    """The controller cannot start or cannot be queried."""
