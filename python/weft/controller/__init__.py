"""The OpenFlow 1.3 controller: what connects Weft's controller core to real switches.

The core (`weft._weft.Controller`) decides; this package tells it what happens in the network and does what it says.
From the switch inwards: `connection` (bytes of a TCP connection), `switch` (one switch's handshake, roles, liveness),
`codec` (what switches say), `discovery` and `lldp` (which port leads where), `service` (the one who owns all
of it). What every path costs (packets up and down, rules, barriers) passes through them as bytes: the core reads and
makes it. Beside them `control` and `metrics`, over which others look at it.

One thread runs one event loop; everything here runs in it and nothing waits.
"""

from __future__ import annotations

from .errors import ControllerError
from .settings import Settings

__all__ = ["ControllerError", "Settings"]
