"""A Debian with nothing but named packages, as a directory in which commands run as in a container.

Made by mmdebstrap from the sources of this machine's apt, so it is what a user has right after installing Debian, whose
apt brings libstdc++ for NumPy. A root copied together from this machine could hold what the wheel forgets. Its commands
have no network, none of this machine's files, and a process tree, host name and BPF file system of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MORE = "systemd-sysv dbus adduser mininet iproute2 ethtool net-tools iputils-ping man-db bash-completion"
PACKAGES = {"bare": ["apt", "python3", "python3-venv"], "full": ["apt", "python3", "python3-venv", *MORE.split()]}
"""A bare one, and one that can emulate, boot and show manual pages."""
ENTER = """
set -e
mount --make-rprivate /
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t sysfs sysfs "$0/sys"
mount -t bpf bpf "$0/sys/fs/bpf"
mount -t tmpfs tmpfs "$0/run"
mount -t tmpfs tmpfs "$0/tmp"
ip link set dev lo up
exec chroot "$0" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd && $1"
"""


AWAIT = """
await() { for look in $(seq 600); do eval "$1" >/dev/null 2>&1 && return; sleep 0.2; done; echo "never: $1"; exit 1; }
"""
"""A function of the shell that waits until a command succeeds."""


@dataclass(frozen=True)
class Root:
    """The directory of a Debian."""

    path: Path

    def run(self, script: str, *, code: int = 0, timeout_s: float = 900) -> str:
        """Run a shell script in it, as root in its home directory; its output and errors."""
        alone = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
        words = [*alone, "sh", "-c", ENTER, str(self.path), script]
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == code, f"{script}\n{said}"
        return said

    def give(self, source: Path, target: str) -> None:
        """Copy a file or directory of this machine into it."""
        into = self.path / target.lstrip("/")
        into.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, into)
        else:
            shutil.copy(source, into)


def make(kind: str, path: Path) -> Root:
    """Unpack a Debian into a new directory; the archive is made once."""
    archive = TARGET / "roots" / f"{kind}.tar"
    if not archive.is_file():
        archive.parent.mkdir(parents=True, exist_ok=True)
        part = archive.with_suffix(".part.tar")
        include = f"--include={','.join(PACKAGES[kind])}"
        made = ["mmdebstrap", "--quiet", "--variant=essential", include, release(), part, *sources()]
        subprocess.run(made, check=True, timeout=1800)
        part.rename(archive)
    path.mkdir()
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", path, "--exclude=./dev/*"], check=True)
    return Root(path)


def release() -> str:
    """The code name of this machine's release, such as ``bookworm``."""
    lines = Path("/etc/os-release").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME="))


def sources() -> list[Path]:
    """The files of apt's sources for this release."""
    folder = Path("/etc/apt/sources.list.d")
    files = [Path("/etc/apt/sources.list"), *folder.glob("*.list"), *folder.glob("*.sources")]
    return [path for path in files if path.is_file() and f"{release()} " in path.read_text() + " "]


def newest(pattern: str, target: str) -> Path:
    """The newest file of a pattern below the target directory; the test fails if there is none."""
    found = sorted(TARGET.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.fail(f"no {pattern} in {TARGET}: `make {target}` builds it, `make check-wheel` all that is needed here")
    return found[-1]
