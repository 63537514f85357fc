"""Emulation errors that a user can fix."""

from ..errors import WeftError


class EmulationError(WeftError):
    """This scenario cannot be emulated, or not on this machine."""
