"""Processes of this Python."""

import sys


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module; files of the current directory are not taken for modules."""
    return [sys.executable, "-P", "-m", name, *arguments]
