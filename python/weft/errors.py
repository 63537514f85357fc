"""What can go wrong for reasons a user can mend; each message says what was found, where, and what to do."""

from __future__ import annotations

from ._weft import ScenarioError

__all__ = ["OutputError", "ResultsError", "ScenarioError", "WeftError"]


class WeftError(Exception):
    """Base of the errors raised by the Python side of Weft."""


class ResultsError(WeftError):
    """A directory that is not a Weft result, or one whose files cannot be read."""


class OutputError(WeftError):
    """An output directory or file that must not or cannot be written."""
