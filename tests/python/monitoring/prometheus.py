"""Prometheus's programs (`make system-oracles`), and the files of packaging/monitoring."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILES = ROOT / "packaging" / "monitoring"


def program(name: str) -> str:
    """The path of `promtool` or `prometheus`; skips the test where it is missing."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (`make system-oracles`)")
    return path


def promtool(*arguments: str | Path, text: str | None = None) -> str:
    """The output of promtool, which must succeed; `text` is its input."""
    command = [program("promtool"), *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def alerts() -> list[dict[str, Any]]:
    """All alert rules."""
    groups = yaml.safe_load((FILES / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    """The dashboard."""
    found: dict[str, Any] = json.loads((FILES / "dashboard.json").read_text(encoding="utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    """The dashboard's panels, without row headings."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def queries(job: str = ".*", instance: str = ".*") -> dict[str, str]:
    """The dashboard's queries as Grafana sends them with these variables, by panel and letter."""
    found = {}
    for panel in panels():
        for one in panel["targets"]:
            query = one["expr"].replace("$__rate_interval", "1m")
            query = query.replace("$instance", instance).replace("$job", job)
            found[f"{panel['title']}, {one['refId']}"] = query
    return found
