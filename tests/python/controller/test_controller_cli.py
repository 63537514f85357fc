"""The `weft controller` command line: rejected arguments with advice, and a clean exit on Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

from fake import Core
from test_settings import RING
from waiting import until
from weft import _weft
from weft.controller import client


@pytest.fixture
def core(monkeypatch):
    """A fake core in place of the real one."""
    monkeypatch.setattr(_weft, "Controller", lambda settings, **limits: Core(), raising=False)
    sys.modules.pop("weft.controller.run", None)


def listening():
    """A port that is already in use."""
    server = socket.create_server(("127.0.0.1", 0))
    return server, f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--listen", "127.0.0.1"], "--listen: `127.0.0.1` has no port", "try: --listen 127.0.0.1:6653"),
        (["--metrics", "everywhere:19466"], "--metrics: `everywhere` is not a valid IP address", "--metrics :19466"),
        (["--listen", "192.0.2.1:6653"], "192.0.2.1 is not an address of this machine", "--listen :6653"),
        (["--fabric", "none.toml"], "none.toml", "No such file"),
        (["--paths", "2", "--proactive", "4"], "--proactive 4: a set has only 2 paths", "--proactive 2, or --paths 4"),
        (["--metrics", "x"], "--metrics: `x` has no port", "try: --metrics 127.0.0.1:19466"),
        (["--control", "/nope/x.sock"], "--control: no such directory: /nope", "`mkdir -p /nope` first"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_type(weft, core, tmp_path, arguments, message, hint):
    done = weft("controller", "--control", tmp_path / "c.sock", *arguments)
    assert done.exit_code == 2
    assert not Path("/nope").exists()
    assert message in done.output and hint in done.output
    assert "Traceback" not in done.output


def test_a_port_in_use_is_said_with_how_to_find_who_uses_it(weft, core, tmp_path):
    server, address = listening()
    with server:
        done = weft("controller", "--control", tmp_path / "c.sock", "--listen", address)
    assert done.exit_code == 2
    assert f"{address} is already in use by another program" in done.output
    assert "ss -ltnp" in done.output
    assert not (tmp_path / "c.sock").exists()


def test_a_fabric_file_that_is_broken_is_refused_at_its_line(weft, core, tmp_path):
    path = tmp_path / "ring.fabric.toml"
    path.write_text(RING.replace('role = "host"', 'role = "boat"', 1))
    done = weft("controller", "--fabric", path, "--control", tmp_path / "c.sock")
    assert done.exit_code == 2
    assert "boat" in done.output and "Traceback" not in done.output


def test_it_runs_until_ctrl_c_and_can_be_asked_meanwhile(weft, core, tmp_path):
    path = tmp_path / "c.sock"
    seen = []

    def stop():
        try:
            until("the control socket", path.exists)
            seen.append(client.ask(path, "status", 1))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=stop)
    other.start()
    done = weft("controller", "--listen", "127.0.0.1:0", "--control", path, "--forwarding", "spanning-tree")
    other.join()
    assert done.exit_code == 0
    assert seen[0]["status"]["forwarding"] == "spanning-tree"
    assert "listening on 127.0.0.1:" in done.output and "switches keep their rules" in done.output
    assert not path.exists()


def test_show_without_a_controller_says_what_to_do(weft, tmp_path):
    done = weft("controller", "show", "paths", "--control", tmp_path / "c.sock")
    assert done.exit_code == 2
    for said in ("no controller responds on", "No such file", "start one (`weft controller`)"):
        assert said in done.output, said


def test_show_of_a_controller_that_hangs_exits_with_1(weft, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "_PATIENCE_S", 0.3)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "c.sock"))
        server.listen()
        done = weft("controller", "show", "paths", "--control", tmp_path / "c.sock")
    assert done.exit_code == 1, done.output
    assert "did not respond within" in done.output and "check its log" in done.output


@pytest.mark.parametrize("words", [("controller", "--help"), ("controller", "show", "--help")])
def test_help_has_examples(weft, words):
    done = weft(*words)
    assert done.exit_code == 0
    assert "Examples" in done.output and "weft controller show" in done.output
