"""Removes pytest-xdist's 80-column terminal from the environment before Weft creates its console."""

import os

for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
