"""Exit codes (``docs/exit-codes.md``); a module of its own, which imports nothing."""

INTERRUPTED = 130
"""Exit code of a command stopped by Ctrl-C."""
