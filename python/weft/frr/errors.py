"""Errors of the export to FRR."""

from ..errors import WeftError


class FrrError(WeftError):
    """A scenario that FRR cannot carry out."""
