"""Controller errors that a user can fix."""

from __future__ import annotations

from ..errors import HintedError


class ControllerError(HintedError):
    """The controller cannot start or cannot be queried."""
