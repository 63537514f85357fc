"""The controller's settings at start, and the rejected ones."""

from __future__ import annotations

import errno
import json
import logging
from pathlib import Path

import pytest

from weft.controller.address import Address
from weft.controller.errors import ControllerError
from weft.controller.rate_limited_log import RateLimitedLog
from weft.controller.settings import Expected, Settings, dpid_of, dpids_of

RING = """
name = "ring"
[defaults]
rate = "100 Mbps"
[[node]]
name = "s1"
role = "switch"
[[node]]
name = "s2"
role = "switch"
[[node]]
name = "a"
role = "host"
[[node]]
name = "b"
role = "host"
[[link]]
between = ["a", "s1"]
[[link]]
between = ["b", "s2"]
[[link]]
between = ["s2", "s1"]
[[link]]
between = ["s1", "s2"]
"""


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:6653", "127.0.0.1", 6653),
        ("[::1]:6653", "::1", 6653),
        (":6653", "", 6653),
        ("6653", "", 6653),
        ("0.0.0.0:0", "0.0.0.0", 0),
    ],
)
def test_an_address_is_read(text, host, port):
    assert Address.parse(text, "--listen", 6653) == Address(host, port)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("127.0.0.1", "has no port", "--listen 127.0.0.1:6653"),
        ("127.0.0.1:", "is not a valid TCP port", "--listen 127.0.0.1:6653"),
        ("127.0.0.1:99999", "is not a valid TCP port", "--listen 127.0.0.1:6653"),
        ("127.0.0.1:x", "is not a valid TCP port", "--listen 127.0.0.1:6653"),
        ("controller:6653", "is not a valid IP address", "--listen 127.0.0.1:6653"),
        ("::1:6653", "needs brackets", "--listen '[::1]:6653'"),
        ("", "has no port", "--listen 127.0.0.1:6653"),
    ],
)
def test_what_is_no_address_is_refused_with_one_that_is(text, message, hint):
    with pytest.raises(ControllerError, match=message) as refused:
        Address.parse(text, "--listen", 6653)
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("listen", "target"),
    [
        (":6653", "tcp:ADDRESS-OF-THIS-MACHINE:6653"),
        ("0.0.0.0:6653", "tcp:ADDRESS-OF-THIS-MACHINE:6653"),
        ("[::]:6653", "tcp:ADDRESS-OF-THIS-MACHINE:6653"),
        ("192.0.2.1:6653", "tcp:192.0.2.1:6653"),
        ("[fd00::1]:6653", "tcp:[fd00::1]:6653"),
    ],
)
def test_the_controller_target_of_a_switch_names_an_address(listen, target):
    assert Address.parse(listen, "--listen", 6653).as_target() == target


@pytest.mark.parametrize(
    ("number", "message", "hint"),
    [
        (errno.EADDRINUSE, "127.0.0.1:6653 is already in use by another program", "ss -ltnp 'sport = :6653'"),
        (errno.EADDRNOTAVAIL, "127.0.0.1 is not an address of this machine", "--listen :6653"),
        (errno.EACCES, "only root may listen", "a port above 1023"),
    ],
)
def test_an_address_that_cannot_be_listened_on_says_why(number, message, hint):
    error = Address("127.0.0.1", 6653).refused(OSError(number, "x"), "--listen")
    assert message in str(error) and hint in str(error.hint)


@pytest.mark.parametrize(
    ("name", "dpid"),
    [
        *(("s1", 1), ("core-12", 12), ("leaf-0012", 12), ("00000000000000ab", 0xAB)),
        *((name, None) for name in ("edge", "s0", "switch0", "1s", "", "0" * 16)),
    ],
)
def test_the_name_of_a_switch_tells_its_datapath_id(name, dpid):
    assert dpid_of(name) == dpid


def test_where_numbers_alone_are_not_enough_letters_count_too():
    assert dpids_of(["s1", "t2"]) == {"s1": 1, "t2": 2}
    assert dpids_of(["e0", "a0", "c3"]) == {"e0": 0x6500000000, "a0": 0x6100000000, "c3": 0x6300000003}
    assert dpids_of(["s1", "core1"]) == {"s1": 0x7300000001, "core1": 0x636F726500000001}


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[3] / "scenarios").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_controller_takes_the_fabrics_of_wefts_own_scenarios(file):
    expected = Expected.read(file)
    assert len(set(expected.switches.values())) == len(expected.switches) and all(expected.switches.values())
    assert len(expected.switches) == 1 or expected.cables


def test_a_fabric_file_becomes_what_the_core_expects(tmp_path):
    path = tmp_path / "ring.fabric.toml"
    path.write_text(RING)
    expected = Expected.read(path)
    settings = Settings(Address("", 0), Path("x"), fabric=expected, paths=2)
    core = json.loads(settings.for_core())
    assert core["fabric"]["switches"] == [{"name": "s1", "dpid": 1}, {"name": "s2", "dpid": 2}]
    cable = {"a": {"switch": "s1", "port": None}, "b": {"switch": "s2", "port": None}}
    assert core["fabric"]["cables"] == [cable, cable]
    assert (core["controller"], core["paths"], core["proactive_paths"]) == ("smoc", 2, 2)


def test_a_fabric_file_needs_no_hosts_and_other_commands_do(tmp_path, weft):
    path = tmp_path / "two.fabric.toml"
    node = '[[node]]\nname = "{}"\nrole = "switch"\n'
    path.write_text(node.format("s1") + node.format("s2") + '[[link]]\nbetween = ["s1", "s2"]\nrate = "1 Gbps"\n')
    expected = Expected.read(path)
    assert (expected.switches, list(expected.cables)) == ({"s1": 1, "s2": 2}, [("s1", "s2")])
    done = weft("fabric", path)
    assert done.exit_code == 2 and "the fabric has no hosts" in done.output
    path.write_text("")
    with pytest.raises(ControllerError, match="the fabric has no switches"):
        Expected.read(path)


@pytest.mark.parametrize(("paths", "given", "proactive"), [(8, None, 4), (2, None, 2), (2, 2, 2), (8, 6, 6), (2, 1, 1)])
def test_paths_are_installed_at_once_as_asked_for_or_four_of_them(paths, given, proactive):
    settings = Settings(Address("", 0), Path("x"), paths=paths, proactive=given)
    assert json.loads(settings.for_core())["proactive_paths"] == proactive


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("s2", "edge"), "`edge` implies no datapath id"),
        (("s2", "rack-1"), "`s1` and `rack-1` have the same datapath id, 0000000000000001"),
    ],
)
def test_a_fabric_file_whose_switches_have_no_datapath_ids_is_refused(tmp_path, change, message):
    path = tmp_path / "ring.fabric.toml"
    path.write_text(RING.replace(*change))
    with pytest.raises(ControllerError, match=message) as refused:
        Expected.read(path)
    assert refused.value.hint


def test_what_others_can_cause_is_logged_once_a_minute(caplog):
    now = [0.0]
    rate_limited_log = RateLimitedLog(logging.getLogger("t"), lambda: now[0])
    for _ in range(5):
        rate_limited_log.warning("a", "it happened")
    rate_limited_log.warning("b", "that too")
    now[0] = 61.0
    rate_limited_log.warning("a", "it happened")
    said = [record.message for record in caplog.records]
    assert said == ["it happened", "that too", "it happened (4 more since the last message)"]
    for kind in range(10_000):
        rate_limited_log.warning(kind, "flood")
    assert len(rate_limited_log._said) <= 4096
