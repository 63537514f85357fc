"""The control plane of Tag-and-Forward for running switches: installs gates and rules on all daemons of a fat-tree.

The core (`weft._weft.GatePlan`, `Provisioner`) computes gates, paths and rules. This package reads the user's files
(`inputs`), queries daemons over their control sockets (`client`, `fleet`), compares their neighbours with the fabric
(`wiring`), provisions them (`provisioning`), follows link changes (`watch`) and reports their state (`state`).

One thread runs one event loop; an unresponsive daemon never delays the others.
"""

from .errors import TagForwardError

__all__ = ["TagForwardError"]
