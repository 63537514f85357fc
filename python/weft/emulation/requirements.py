"""What an emulation needs of the machine, each refused with what to do about it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import EmulationError

SYSTEM_PROGRAMS = ("unshare", "setpriv", "mount", "mnexec", "ip", "tc", "ss", "nstat", "ethtool", "ifconfig")
"""Of the system; `mnexec` comes with Mininet."""
OWN_PROGRAMS = ("weft-switchd", "weft-loadgen", "weft-pktgen")
"""Built by `make emulation`, installed beside `weft`."""
_EMULATES = ("weft-switchd", "weft-loadgen")
"""Those of them that carry out a scenario."""
_DEBIAN_PACKAGES = Path("/usr/lib/python3/dist-packages")
"""Where Debian and Ubuntu install Mininet, which a virtual environment does not see."""
_INSTALL = "`make emulation` in Weft's directory installs and builds what an emulation needs"


def check(own: Sequence[str] = _EMULATES) -> None:
    """Refuse a machine on which nothing can be emulated.

    Args:
        own: Programs of Weft that are needed.

    Raises:
        EmulationError: It is not Linux, the user is not root, or a program or Mininet is missing.
    """
    if sys.platform != "linux":
        raise EmulationError(
            f"emulation needs Linux's network namespaces, this is {sys.platform}",
            "`weft run` simulates the same scenario here",
        )
    if os.geteuid() != 0:
        raise EmulationError(
            "emulation makes network namespaces and loads eBPF programs, which only root may",
            "the same command after `sudo`, or `weft run` to simulate",
        )
    missing = [name for name in (*SYSTEM_PROGRAMS, *own) if program(name) is None]
    if missing:
        raise EmulationError(f"missing: {', '.join(missing)}", _INSTALL)
    find_mininet()


def program(name: str) -> str | None:
    """The path of a program: beside this Python, then in `PATH`, then where the system's are; None if nowhere."""
    beside = Path(sys.executable).parent / name
    if name in OWN_PROGRAMS and beside.is_file():
        return str(beside)
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin")


def find_mininet() -> None:
    """Make `import mininet` work: as it is, else with Debian's package and nothing else of its directory.

    Raises:
        EmulationError: There is no Mininet.
    """
    if importlib.util.find_spec("mininet") is not None:
        return
    package = _DEBIAN_PACKAGES / "mininet"
    spec = importlib.util.spec_from_file_location(
        "mininet", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if not package.is_dir() or spec is None or spec.loader is None:
        raise EmulationError("Mininet is not installed", _INSTALL)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mininet"] = module
    spec.loader.exec_module(module)
