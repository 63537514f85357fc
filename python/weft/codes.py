"""Exit codes (``docs/exit-codes.md``); a module of its own, which imports nothing."""

INTERRUPTED = 130
"""Exit code of a command stopped by Ctrl-C."""
TERMINATED = 143
"""Exit code of a sweep stopped by SIGTERM."""
