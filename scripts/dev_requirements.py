"""Prints what the `dev` extra of pyproject.toml asks for, for pip."""

from __future__ import annotations

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
print("\n".join(requirement.replace(" ", "") for requirement in project["optional-dependencies"]["dev"]))
