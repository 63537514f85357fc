"""Forgets the terminal of 80 columns that pytest-xdist gives its processes, before Weft's console is made."""

import os

for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
