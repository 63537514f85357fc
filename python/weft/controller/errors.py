"""Controller errors that a user can fix."""

from __future__ import annotations

from ..errors import WeftError


class ControllerError(WeftError):
    """The controller cannot start or cannot be queried."""
