"""A quick run of a benchmark, as a user starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


def quick_run(tmp_path: Path, module: str, *arguments: str) -> tuple[dict[str, Any], str]:
    """The figures that it writes, and its output."""
    file = tmp_path / "figures.json"
    command = [sys.executable, "-m", f"benches.{module}", *arguments, "--quick", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=5 * PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout
