"""Commands delete only files that Weft created."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from weft.emulation.sweep import workshop
from weft.errors import OutputError

ROOT = Path(__file__).resolve().parents[2]


def test_the_workshop_of_an_emulation_is_not_emptied_through_a_symbolic_link(tmp_path):
    diary = tmp_path / "home" / "diary"
    diary.parent.mkdir()
    diary.write_text("dear diary")
    out = tmp_path / "out"
    out.mkdir()
    (out / ".emulation").symlink_to(diary.parent)
    with pytest.raises(OutputError), workshop(out):
        pass
    assert diary.read_text() == "dear diary"


def test_purging_the_package_leaves_what_others_put_into_its_directory(tmp_path):
    state = tmp_path / "weft"
    state.mkdir()
    for name in ("s1.hellos", "s1.id", "diary"):
        (state / name).write_text("x")
    script = (ROOT / "packaging/debian/postrm").read_text().replace("/var/lib/weft", str(state))
    # A test must not notify a service manager.
    script = script.replace("/run/systemd/system", str(tmp_path / "nowhere"))
    for left in (["diary"], []):
        subprocess.run(["sh", "-c", script, "postrm", "purge"], check=True)
        assert [entry.name for entry in state.glob("*")] == left
        (state / "diary").unlink(missing_ok=True)
    assert not state.exists()


def test_making_the_package_keeps_a_directory_root_that_was_there(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "diary").write_text("dear diary")
    tools = tmp_path / "tools"
    tools.mkdir()
    # Nothing is built: it stops when it finds no programs to package.
    (tools / "cargo").write_text("#!/bin/sh\n")
    (tools / "cargo").chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "CARGO_TARGET_DIR": str(tmp_path / "none")}
    done = subprocess.run([ROOT / "packaging/deb.sh", tmp_path], env=environment, capture_output=True, check=False)
    assert done.returncode != 0, done.stdout
    assert (tmp_path / "root" / "diary").exists()
    assert not list(tmp_path.glob("root.*")), "its own directory is gone"
