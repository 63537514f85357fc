"""Prints requirements from pyproject.toml for pip: those of the named extras; `dependencies` names Weft's own."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
lists = project["optional-dependencies"] | {"dependencies": project["dependencies"]}
wanted = [requirement for name in sys.argv[1:] for requirement in lists[name]]
print("\n".join(requirement.replace(" ", "") for requirement in wanted))
