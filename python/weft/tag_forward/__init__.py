"""The control plane of Tag-and-Forward for switches that run: gates and rules to the daemons of a whole fat-tree.

What is decided (gates, ways, rules) is the core's (`weft._weft.GatePlan`, `Provisioner`). This package reads what
people give (`inputs`), asks daemons over their control sockets (`client`, `fleet`), holds what they hear of each other
against the fabric (`wiring`), tells them what to do (`provisioning`), follows what becomes of cables (`watch`) and
finds out how all are (`state`).

One thread runs one event loop; a daemon that does not answer holds nobody up.
"""

from __future__ import annotations

from .errors import TagForwardError

__all__ = ["TagForwardError"]
