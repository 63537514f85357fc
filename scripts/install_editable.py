"""Installs this directory as the package and command `weft` of this Python, with the extension already built in it.

`maturin develop` does the same, but builds the extension with different features of third-party crates than the
workspace, so they would be compiled twice.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = f"""#!{sys.executable}
import sys

from weft.entry import main

sys.exit(main())
"""

(Path(sysconfig.get_path("purelib")) / "weft.pth").write_text(f"{ROOT / 'python'}\n")
command = Path(sysconfig.get_path("scripts")) / "weft"
command.write_text(COMMAND)
command.chmod(0o755)
