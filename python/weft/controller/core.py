"""What the core of the controller, `weft._weft.Controller`, says, and the numbers in it."""

from __future__ import annotations

from typing import Any, TypeAlias

Rule: TypeAlias = "tuple[int, str, int, int, tuple[tuple[str, Any], ...], tuple[tuple[str, Any], ...], int, bool]"
"""`(dpid, op, cookie, priority, match, actions, idle_timeout, notify)`, as `_weft.pyi` describes it."""
Release: TypeAlias = "tuple[int, int, bytes]"
"""`(dpid, in_port, frame)`: a frame that waited for its rules."""
Command: TypeAlias = "tuple[Any, ...]"
"""`("install", id, [Rule], [Release])` or `("packet_out", dpid, in_port, ports, frame)`."""
TABLE = 0xFFFFFFF9
"""OFPP_TABLE: the switch sends a frame where its rules say."""
CONTROLLER = 0xFFFFFFFD
"""OFPP_CONTROLLER."""
MARK = 0x5745
"""The upper 16 bits of the cookies of all rules that are Weft's."""
