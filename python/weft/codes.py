"""Exit codes (``docs/exit-codes.md``); a module of its own, which imports nothing."""

INTERRUPTED = 130
"""Of a command that Ctrl-C stopped."""
