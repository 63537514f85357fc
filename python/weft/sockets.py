"""The directory of control sockets, for all modules that are imported without aiohttp."""

from pathlib import Path

RUN_DIR = Path("/run/weft")
"""Default directory of the control sockets of `weft-switchd` and, for root, of `weft controller`. The file
`weft_mininet.py`, which imports nothing of Weft, repeats it."""
