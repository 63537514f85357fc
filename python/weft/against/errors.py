"""Errors of the comparison with another simulator that a user can fix."""

from ..errors import WeftError


class PeerError(WeftError):
    """The other simulator is missing, is another program, or fails."""
