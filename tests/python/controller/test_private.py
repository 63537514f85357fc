"""The directory of the control socket below /tmp, which another user may have created first."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.controller import client, private
from weft.controller.errors import ControllerError


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="weft-private-", dir="/tmp"))
    yield made
    if made.is_symlink():
        made.unlink()
    else:
        shutil.rmtree(made, ignore_errors=True)


def test_a_directory_of_ones_own_is_taken_and_so_is_one_that_is_not_there(folder: Path) -> None:
    folder.chmod(0o700)
    private.check(folder)
    folder.chmod(0o755)
    private.check(folder)
    folder.rmdir()
    private.check(folder)


def test_a_directory_that_others_may_write_to_is_refused(folder: Path) -> None:
    folder.chmod(0o777)
    with pytest.raises(ControllerError, match=r"is writable by others \(mode 0777, expected 0700\)"):
        private.check(folder)
    with pytest.raises(ControllerError) as refused:
        client.ask(folder / "weft-controller.sock", "switches", 1)
    assert refused.value.hint is not None and "XDG_RUNTIME_DIR" in refused.value.hint


def test_a_symbolic_link_is_refused_though_it_leads_to_a_directory_of_ones_own(folder: Path, tmp_path: Path) -> None:
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(ControllerError, match="is a symbolic link"):
        private.check(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change a directory's owner")
def test_a_directory_of_somebody_elses_is_refused(folder: Path) -> None:
    os.chown(folder, 12345, 12345)
    with pytest.raises(ControllerError, match="belongs to user 12345, not to you"):
        private.check(folder)


def test_a_directory_elsewhere_is_the_users_own_choice(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    private.check(tmp_path)
