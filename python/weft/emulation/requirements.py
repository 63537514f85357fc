"""Requirements of an emulation, with errors that say how to meet them."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .errors import EmulationError

SYSTEM_PROGRAMS = ("unshare", "setpriv", "mount", "mnexec", "ip", "tc", "ss", "nstat", "ethtool", "ifconfig")
"""System programs; `mnexec` comes with Mininet."""
OWN_PROGRAMS = ("weft-switchd", "weft-loadgen", "weft-pktgen")
"""Built by `make emulation`, installed next to `weft`."""
_EMULATES = ("weft-switchd", "weft-loadgen")
"""The own programs needed to run a scenario."""
_DEBIAN_PACKAGES = Path("/usr/lib/python3/dist-packages")
"""The directory where Debian and Ubuntu install Mininet, outside of virtual environments."""
_INSTALL = (
    "`make emulation` in Weft's directory installs and builds all that an emulation needs; with the wheel or package:"
    " apt-get install mininet iproute2 ethtool net-tools"
)


def check(own: Sequence[str] = _EMULATES) -> None:
    """Check that this machine can run emulations with Weft's programs in `own`.

    Raises `EmulationError` if it is not Linux, the user is not root, or a program or Mininet is missing.
    """
    if sys.platform != "linux":
        raise EmulationError(
            f"emulation needs Linux network namespaces, but this is {sys.platform}",
            "`weft run` simulates the same scenario here",
        )
    if os.geteuid() != 0:
        raise EmulationError(
            "emulation needs root: it creates network namespaces and loads eBPF programs",
            "the same command with `sudo`, or `weft run` to simulate",
        )
    missing = [name for name in (*SYSTEM_PROGRAMS, *own) if program(name) is None]
    if missing:
        raise EmulationError(f"missing: {', '.join(missing)}", _INSTALL)
    find_mininet()


def program(name: str) -> str | None:
    """The path of a program: next to this Python, in `PATH`, or in the system's directories; None if not found."""
    beside = Path(sys.executable).parent / name
    if name in OWN_PROGRAMS and beside.is_file():
        return str(beside)
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/bin:/bin")


def required(name: str) -> str:
    """The path of a program. Raises `EmulationError` if it is not found."""
    found = program(name)
    if found is None:
        raise EmulationError(f"missing: {name}")
    return found


def find_mininet() -> None:
    """Make `import mininet` work: unchanged, else with Debian's package, without the rest of its directory.

    Raises `EmulationError` if Mininet is not installed.
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
