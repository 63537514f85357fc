"""What tests of steadiness allow."""

STEADY_S = 0.4
"""Without a segment on a path: Linux resends after 0.2 s at least, and a busy machine lets processes wait."""
