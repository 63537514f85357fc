"""The wall clock of single programs, set back and forth as by a time server or an administrator; for use in a jail."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

HOUR_S = 3600
SHIM = Path(__file__).parents[2] / "wall_clock.c"


class WallClock:
    """A clock for programs started with its `environment`."""

    def __init__(self, name: str, seconds: int = 0) -> None:
        """Set to the real time and so many seconds."""
        library = Path(f"/run/{name}.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SHIM], check=True)
        self._shift = Path(f"/run/{name}.shift")
        self.environment = {"LD_PRELOAD": str(library), "WEFT_SHIFT": str(self._shift)}
        self.set(seconds)

    def set(self, seconds: int) -> None:
        """Set it to the real time and so many seconds."""
        new = self._shift.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self._shift)
        command = [sys.executable, "-c", "import time; print(time.time())"]
        said = subprocess.run(command, env=os.environ | self.environment, check=True, capture_output=True).stdout
        shown = float(said) - time.time()
        assert abs(shown - seconds) < HOUR_S / 2, f"the clock was not set: {shown:.0f} s, not {seconds}"
