"""`weft tag-forward provision --watch` and `--on-demand`: failing links, restarting daemons, first packets."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import PATIENCE_S, until, until_async
from weft.tag_forward import fleet as fleet_module
from weft.tag_forward import watch as watch_module
from weft.tag_forward.fleet import Fleet
from weft.tag_forward.inputs import addresses
from weft.tag_forward.watch import Watch

PYTHON = Path(__file__).parents[3] / "python"


class Watching:
    """A long-running command and its output."""

    def __init__(self, fabric: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "weft", "tag-forward", "provision", str(fabric)]
        command += ["--sockets", str(fabric.parent / "run"), *arguments]
        environment = os.environ | {"PYTHONPATH": str(PYTHON)}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    def until(self, what: str | Callable[[], bool]) -> None:
        """Wait until it has printed a text, or a condition holds."""

        def is_there() -> bool:
            found = what in self.said if isinstance(what, str) else what()
            assert found or self.process.poll() is None, f"{what}\n{self.said}"
            return found

        until(str(what), is_there, state=lambda: self.said)

    def stop(self) -> int:
        """Press Ctrl-C; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code


@contextmanager
def watching(fabric: Path, *arguments: str) -> Iterator[Watching]:
    found = Watching(fabric, *arguments)
    try:
        found.until("following ")
        yield found
    finally:
        if found.process.poll() is None:
            found.process.kill()
            found.process.wait()


ALL = [{"gate": 48, "up": 44}, {"gate": 48, "up": 48}, {"gate": 56, "up": 52}, {"gate": 56, "up": 56}]


def test_a_cable_that_fails_is_led_around_and_comes_back(fabric, daemons):
    with watching(fabric, "--watch", "--verbose") as watch:
        posts = {switch: daemon.asked.count("POST flows") for switch, daemon in daemons.by_name.items()}
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="down", up=False, neighbour=None)
        watch.until("link as1-cs1 is down (as1-eth2 is down, expected cs1): ")
        assert daemons["es1"].groups[7] == ALL[1:]
        assert daemons["es8"].groups[0] == ALL[1:]
        # Edges of the pod have seven places: six in other pods; the others have the pod's two; cs1 and its router.
        now = {switch: daemon.asked.count("POST flows") for switch, daemon in daemons.by_name.items()}
        updated = {switch for switch, before in posts.items() if now[switch] > before}
        assert updated == {*(f"es{number}" for number in range(1, 9)), "cs1"}
        # The other end reports the same: nothing new.
        daemons.notice("cs1", what="port", port=0, interface="cs1-eth0", role="down", up=False, neighbour=None)
        heard = {"switch_id": daemons["cs1"].id, "port": 0}
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="fabric", up=True, neighbour=heard)
        # Both directions must work. When the next notice of as1 is read, changes that follow from this one are on their
        # way, and those of another link are sent after them.
        daemons.notice("as1", what="weather", sky="clear")
        watch.until("as1 sent an unknown notice: ")
        daemons.notice("as2", what="port", port=2, interface="as2-eth2", role="down", up=False, neighbour=None)
        watch.until(lambda: daemons["es1"].groups[7] == [ALL[1], ALL[3]])
        heard_there = {"switch_id": daemons["cs3"].id, "port": 0}
        daemons.notice("as2", what="port", port=2, interface="as2-eth2", role="fabric", up=True, neighbour=heard_there)
        watch.until(lambda: daemons["es1"].groups[7] == ALL[1:])
        heard = {"switch_id": daemons["as1"].id, "port": 2}
        daemons.notice("cs1", what="port", port=0, interface="cs1-eth0", role="fabric", up=True, neighbour=heard)
        watch.until("link as1-cs1 is up: ")
        assert daemons["es1"].groups[7] == ALL
        assert watch.stop() == 0
        assert "stopped; switches keep gates and rules" in watch.said


def test_a_cable_that_is_put_elsewhere_is_named_and_not_used(fabric, daemons):
    with watching(fabric, "--watch") as watch:
        heard = {"switch_id": daemons["cs4"].id, "port": 0}
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="fabric", up=True, neighbour=heard)
        watch.until("link as1-cs1 is down (as1-eth2 goes to cs4, expected cs1)")
        watch.until(lambda: daemons["es1"].groups[7] == ALL[1:])


def test_a_daemon_that_restarts_gets_the_changes_it_missed(fabric, daemons):
    with watching(fabric, "--watch") as watch:
        daemons.stop("es1")
        watch.until("es1 does not respond on ")
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="down", up=False, neighbour=None)
        watch.until(lambda: daemons["es8"].groups[0] == ALL[1:])
        assert daemons["es1"].groups[7] == ALL
        daemons["es1"].rules.popitem()
        daemons.start("es1")
        watch.until("es1 is provisioned: rules 1 added, 19 kept")
        assert daemons["es1"].groups[7] == ALL[1:]


def test_a_daemon_that_is_unreachable_at_first_is_updated_once_it_is_reachable(fabric, daemons):
    daemons.stop("cs1")
    with watching(fabric, "--watch") as watch:
        watch.until("following 19 switches")
        assert "cs1 does not respond" in watch.said
        assert daemons["cs1"].gates is None
        daemons.start("cs1")
        watch.until("cs1 is provisioned: rules 16 added")
        assert daemons["cs1"].gates is not None


def test_notices_that_make_no_sense_are_ignored_or_end_the_connection_alone(fabric, daemons):
    with watching(fabric, "--watch", "--verbose") as watch:
        daemons.notice("es1", what="weather", sky="clear")
        watch.until("es1 sent an unknown notice: ")
        daemons.notice("es1", what="miss", source=7)
        for follower in daemons["es1"].followers:
            daemons.tell(follower, {"what": "port", "port": 0, "interface": "", "role": "host", "neighbour": 7})
        watch.until("a daemon reported a malformed port")
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="down", up=False, neighbour=None)
        watch.until(lambda: daemons["es1"].groups[7] == ALL[1:])


def test_a_switch_that_refuses_a_change_gets_all_rules_again(fabric, daemons):
    with watching(fabric, "--watch") as watch:
        daemons["es1"].refuses = "change 1: no"
        daemons.notice("as1", what="port", port=2, interface="as1-eth2", role="down", up=False, neighbour=None)
        watch.until("es1 refused POST /v1/flows (409): change 1: no")
        daemons["es1"].refuses = None
        watch.until(lambda: daemons["es1"].groups[7] == ALL[1:])


def test_on_demand_the_first_packet_of_a_pair_has_a_rule_made_for_it(fabric, daemons):
    with watching(fabric, "--on-demand", "--verbose") as watch:
        assert (daemons["es1"].rules, len(daemons["es1"].groups)) == ({}, 11)
        for _ in range(2):
            daemons.notice("es1", what="miss", port=0, source="10.0.0.1", destination="10.0.0.15")
        watch.until("es1 has a rule for 10.0.0.1 -> 10.0.0.15")
        (rule,) = daemons["es1"].rules.values()
        assert rule["matches"] == {"source": "10.0.0.1/32", "destination": "10.0.0.15/32"}
        assert rule["action"] == {"queue": 0, "down": 30, "to": {"group": 7}}
        daemons.notice("es1", what="miss", port=0, source="192.0.2.1", destination="10.0.0.15")
        watch.until("no rule for 192.0.2.1 -> 10.0.0.15: 192.0.2.1 is not the address of any host")
        daemons.notice("es1", what="miss", port=0, source="10.0.0.16", destination="10.0.0.15")
        watch.until("10.0.0.16 is the address of a host on another switch")
        assert watch.stop() == 0
        assert "stopped after 1 rule on demand" in watch.said
    # The next run finds that rule and keeps it.
    with watching(fabric, "--on-demand"):
        assert list(daemons["es1"].rules) == [("10.0.0.1/32", "10.0.0.15/32")]


def test_a_daemon_that_never_answers_is_waited_for_and_ctrl_c_ends_that(fabric, daemons):
    daemons.stop("cs1")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(fabric.parent / "run" / "cs1.sock"))
        silent.listen()
        waiting = Watching(fabric)
        silent.settimeout(PATIENCE_S)
        connection, _ = silent.accept()
        assert connection.recv(100).startswith(b"GET /v1/status HTTP/1.1")
        assert waiting.stop() == 130
    assert waiting.said == "stopped\n"


def test_on_demand_a_rule_that_was_taken_out_is_made_again(fabric, daemons):
    def miss() -> bool:
        # As often as packets without a rule come.
        daemons.notice("es1", what="miss", port=0, source="10.0.0.1", destination="10.0.0.15")
        return len(daemons["es1"].rules) == 1

    with watching(fabric, "--on-demand") as watch:
        watch.until(miss)
        daemons["es1"].rules.clear()
        watch.until(miss)


def test_a_daemon_that_falls_silent_is_given_up_and_updated_when_it_answers(fabric, daemons, monkeypatch, caplog):
    monkeypatch.setattr(watch_module, "_QUIET_S", 0.1)
    caplog.set_level("INFO", "weft.tag_forward")

    async def until(what: str) -> None:
        await until_async(what, lambda: what in caplog.text, state=lambda: caplog.text)

    async def run() -> None:
        tree = daemons.tree
        sockets = {switch: daemons.directory / f"{switch}.sock" for switch in tree.switches}
        fleet = Fleet(tree, addresses(tree.hosts, None), sockets)
        following = asyncio.create_task(Watch(fleet, []).run())
        await until("following 20 switches")
        daemons["es1"].deaf = True
        # Only while it is deaf: beside a load, the others take longer than that, too.
        with monkeypatch.context() as patched:
            patched.setattr(watch_module, "PROMPT_S", 0.3)
            patched.setattr(fleet_module, "PROMPT_S", 0.3)
            await until("es1 did not respond within 0.3 s")
        daemons["es1"].deaf = False
        daemons["es1"].rules.popitem()
        await until("es1 is provisioned: rules 1 added, 19 kept")
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

    asyncio.run(run())
