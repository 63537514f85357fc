"""Prints what an extra of pyproject.toml asks for, for pip: `dev`, or the one that is named."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

extra = sys.argv[1] if len(sys.argv) > 1 else "dev"
project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
print("\n".join(requirement.replace(" ", "") for requirement in project["optional-dependencies"][extra]))
