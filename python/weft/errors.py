"""Errors that a user can fix; each message states what was found, where, and what to do."""

from __future__ import annotations

from ._weft import ScenarioError

__all__ = ["OutputError", "PluginError", "QueryError", "ResultsError", "ScenarioError", "WeftError"]


class WeftError(Exception):
    """Base class of the errors raised by Weft's Python code.

    Attributes:
        hint: What to do instead, if known and not part of the message.
        begun: Whether the work had begun: then the command exits with 1, else with 2 (``docs/exit-codes.md``).
    """

    def __init__(self, message: str, hint: str | None = None, *, begun: bool = False) -> None:
        super().__init__(message)
        self.hint = hint
        self.begun = begun


class PluginError(WeftError):
    """A plugin cannot be built or loaded."""


class ResultsError(WeftError):
    """A directory is not a Weft result directory, or its files cannot be read."""


class OutputError(WeftError):
    """An output directory or file must not be overwritten or cannot be written."""


class QueryError(WeftError):
    """An SQL query is wrong, needs what it must not use, or needs too much memory."""
