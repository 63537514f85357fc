"""Makes `import weft` and the command `weft` of this Python those of this directory, whatever extension lies in it.

`maturin develop` does the same, but builds the extension by itself, with other features of third-party crates than the
workspace: they would be compiled twice.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = f"""#!{sys.executable}
import sys

from weft.cli import main

sys.exit(main())
"""

(Path(sysconfig.get_path("purelib")) / "weft.pth").write_text(f"{ROOT / 'python'}\n")
command = Path(sysconfig.get_path("scripts")) / "weft"
command.write_text(COMMAND)
command.chmod(0o755)
