"""The programs of a uet-htsim that the user has built: where they are, and whether they are htsim's."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import process
from .errors import PeerError

_FOLDERS = (
    ".",
    "datacenter",
    "build/datacenter",
    "sim/build/datacenter",
    "sim/datacenter",
    "htsim/sim/build/datacenter",
    "htsim/sim/datacenter",
)
"""Where cmake puts programs and links to them, relative to `datacenter`, the build, `sim`, `htsim` and the checkout."""
_SECONDS = 10.0
"""Time for a program to print its usage."""
_USAGE = "-tm traffic_matrix_file"
"""A part of the usage of both programs."""


@dataclass(frozen=True)
class Htsim:
    """The directory that the user named, of a checkout or of its programs."""

    directory: Path

    def program(self, name: str) -> Path | None:
        """The absolute path of a program, or None if it is not built. Raises `PeerError` if it is not htsim's."""
        for folder in _FOLDERS:
            path = self.directory / folder / name
            if path.is_file():
                return _checked(path.resolve(), name)
        return None


def opened(directory: Path) -> Htsim:
    """The directory, if it is one. Raises `PeerError`."""
    if not directory.exists():
        raise PeerError(f"{directory} does not exist", "--htsim DIR, a checkout of uet-htsim that is built")
    if not directory.is_dir():
        raise PeerError(f"{directory} is not a directory", f"--htsim {directory.parent}, if its programs are there")
    return Htsim(directory)


def how_to_build(name: str) -> str:
    """The commands that build a program in a checkout."""
    return f"in htsim/sim of the checkout: cmake -S . -B build && cmake --build build --target {name}"


def _checked(path: Path, name: str) -> Path:
    if not os.access(path, os.X_OK):
        raise PeerError(f"{path} is not executable", f"chmod +x {path}")
    try:
        # An unknown option: htsim prints its usage.
        usage = process.printed([path, "-h"], _SECONDS)
    except OSError as error:
        raise PeerError(f"{path} cannot be run: {error.strerror or error}", how_to_build(name)) from None
    except subprocess.TimeoutExpired:
        raise PeerError(f"{path} prints no usage within {_SECONDS:.0f} s: it is not {name}") from None
    if _USAGE not in usage:
        raise PeerError(f"{path} does not print the usage of {name}: it is another program", how_to_build(name))
    return path
