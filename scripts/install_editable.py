"""Installs this directory as the package and command `weft` of this Python, with the extension already built in it.

`maturin develop` does the same, but builds the extension with different features of third-party crates than the
workspace, so they would be compiled twice.
"""

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# With a guard: Dask's workers on this machine import the main script again.
LAUNCHER = f"""#!{sys.executable}
import sys

from weft.entry import main

if __name__ == "__main__":
    sys.exit(main())
"""


def write_launcher(path: Path) -> None:
    """Write the command `weft`."""
    path.write_text(LAUNCHER)
    path.chmod(0o755)


def main() -> None:
    """Install package and command."""
    (Path(sysconfig.get_path("purelib")) / "weft.pth").write_text(f"{ROOT / 'python'}\n")
    write_launcher(Path(sysconfig.get_path("scripts")) / "weft")


if __name__ == "__main__":
    main()
