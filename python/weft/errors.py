"""Errors that a user can fix; each message states the problem, its place and the fix."""

import errno

from ._weft import ScenarioError

_FULL = (errno.ENOSPC, errno.EDQUOT)

__all__ = ["OutputError", "PluginError", "QueryError", "ResultsError", "ScenarioError", "WeftError", "is_disk_full"]


class WeftError(Exception):
    """Base class of the errors raised by Weft's Python code.

    Attributes:
        hint: The fix, if known and not part of the message.
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

    def __init__(
        self, message: str, hint: str | None = None, *, begun: bool = False, disk_full: bool | None = None
    ) -> None:
        super().__init__(message, hint, begun=begun)
        self._disk_full = disk_full

    @property
    def disk_full(self) -> bool:
        """Whether it is because of a full disk or an exceeded quota; by default, whether its cause is."""
        return is_disk_full(self.__cause__) if self._disk_full is None else self._disk_full


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, means a full disk or an exceeded quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        error = error.__cause__
    return False


class QueryError(WeftError):
    """An SQL query is wrong, needs something forbidden, or needs too much memory."""
