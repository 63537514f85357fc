"""The OpenFlow 1.3 controller: connects Weft's controller core to real switches.

The core (`weft._weft.Controller`) makes the decisions; this package passes it the network's events and carries out its
decisions. From the switch inwards: `connection` (a TCP connection), `switch` (one switch's handshake, roles, liveness),
`codec` (messages), `discovery` and `lldp` (links), `service` (owns them all). The messages of path setup (packet-ins,
packet-outs, rules, barriers) pass through as bytes: the core encodes and decodes them. `control` and `metrics` serve
status.

One thread runs one event loop; everything here runs in it and never blocks.
"""

from .errors import ControllerError
from .settings import Settings

__all__ = ["ControllerError", "Settings"]
