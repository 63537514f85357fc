"""Bare Debians with the wheel, shared by the tests of a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bare
import pytest

EXTRAS = "controller,query,cluster"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests here are long and need root."""
    missing = [name for name in ("mmdebstrap", "systemd-nspawn") if shutil.which(name) is None]
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.long)
            item.add_marker(pytest.mark.skipif(os.geteuid() != 0, reason="needs root"))
            item.add_marker(pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}"))


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the wheel and those it depends on, for the Python of the roots."""
    wheel = bare.newest("wheels/weft-*-manylinux*.whl", "wheel")
    folder = bare.TARGET / "wheelhouse"
    for old in folder.glob("weft-*.whl"):
        old.unlink()
    version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, text=True, check=True).stdout
    options = ["--only-binary", ":all:", "--python-version", version.split()[1], "--dest", folder]
    download = [sys.executable, "-m", "pip", "download", "--quiet", *options, f"{wheel}[{EXTRAS}]"]
    subprocess.run(download, check=True, timeout=900)
    return folder


def with_wheel(kind: str, wheelhouse: Path, path: Path) -> bare.Root:
    """A Debian with the wheel installed in /opt/weft, offline."""
    root = bare.make(kind, path)
    root.give(wheelhouse, "/wheelhouse")
    root.run("python3 -m venv /opt/weft")
    root.run(f"/opt/weft/bin/pip install --no-compile --no-index --find-links /wheelhouse 'weft[{EXTRAS}]'")
    shutil.rmtree(root.path / "wheelhouse")
    return root


@pytest.fixture(scope="session")
def installed(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> bare.Root:
    """The bare Debian with the wheel."""
    return with_wheel("bare", wheelhouse, tmp_path_factory.mktemp("bare") / "root")


@pytest.fixture(scope="session")
def emulating(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> bare.Root:
    """The Debian with Mininet and tools, and with the wheel."""
    return with_wheel("full", wheelhouse, tmp_path_factory.mktemp("full") / "root")
