"""Copies the sources with which plugins are built into a package: `plugin_sources.py python/weft/sources`.

An installation from a wheel needs them to build plugins; in the repository, plugins use the repository itself.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

CRATES = (
    "control",
    "fabric",
    "pcapng",
    "plugin",
    "scenario",
    "sim",
    "switching",
    "traffic",
    "transport",
    "units",
    "wire",
)
"""`weft-plugin` and everything that it depends on; `crates/plugin/build.rs` hashes the same."""


def copy(target: Path) -> None:
    """Write the sources, and the versions of their dependencies, to `target`, which is replaced."""
    shutil.rmtree(target, ignore_errors=True)
    for crate in CRATES:
        source = ROOT / "crates" / crate
        shutil.copytree(source / "src", target / "crates" / crate / "src")
        # Tests, benchmarks and examples are not there.
        manifest = re.sub(r"(?m)(^#.*\n)*^\[\[\w+\]\]\n(?:^[^\[\n].*\n)*", "", (source / "Cargo.toml").read_text())
        (target / "crates" / crate / "Cargo.toml").write_text(manifest)
        if (source / "build.rs").is_file():
            shutil.copy(source / "build.rs", target / "crates" / crate)
    (target / "docs").mkdir()
    # A page that is the documentation of a module.
    for name in ("Cargo.toml", "Cargo.lock", "docs/gates.md"):
        shutil.copy(ROOT / name, target / name)


if __name__ == "__main__":
    copy(Path(sys.argv[1]))
