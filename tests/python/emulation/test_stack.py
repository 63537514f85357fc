"""Hosts have the TCP settings of the scenario's transport, as far as Linux supports them."""

from __future__ import annotations

import json

import pytest

from plans import flow
from weft import _weft
from weft.emulation import stack
from weft.emulation.errors import EmulationError

PROFILES = {entry["name"]: entry["parameters"] for entry in json.loads(_weft.profiles())}
FLOWS = [flow(0, "h0", "h1", 0.0)]


def transport(profile: str, **changes: object) -> dict[str, object]:
    return {"profile": profile, "parameters": PROFILES[profile] | changes}


def test_the_linux_profile_is_linux_with_its_values_fixed():
    chosen, warnings = stack.choose(transport("linux"), FLOWS)
    assert warnings == []
    assert chosen.congestion == "cubic"
    assert chosen.route == "congctl cubic initcwnd 10 advmss 1460 rto_min 200ms"
    assert chosen.settings["net.ipv4.tcp_sack"] == "1"
    assert chosen.settings["net.ipv4.tcp_early_retrans"] == "3"
    assert chosen.settings["net.ipv4.tcp_rmem"].split()[2] == str(2 * 3 * 2**20)


@pytest.mark.parametrize(
    ("parameter", "value", "setting", "expected"),
    [
        ("sack", False, "net.ipv4.tcp_sack", "0"),
        ("dsack", False, "net.ipv4.tcp_dsack", "0"),
        ("rack", False, "net.ipv4.tcp_recovery", "0"),
        ("tail_loss_probe", False, "net.ipv4.tcp_early_retrans", "0"),
        ("frto", False, "net.ipv4.tcp_frto", "0"),
        ("timestamps", False, "net.ipv4.tcp_timestamps", "0"),
        ("restart_after_idle", False, "net.ipv4.tcp_slow_start_after_idle", "0"),
        ("syn_retries", 2, "net.ipv4.tcp_syn_retries", "2"),
        ("ecn", "classic", "net.ipv4.tcp_ecn", "1"),
        ("send_buffer", "100 kB", "net.ipv4.tcp_wmem", "4096\t16384\t100000"),
    ],
)
def test_a_parameter_that_linux_has_is_set(parameter, value, setting, expected):
    chosen, warnings = stack.choose(transport("linux", **{parameter: value}), FLOWS)
    assert warnings == []
    assert chosen.settings[setting] == expected


@pytest.mark.parametrize(
    ("parameter", "value", "word"),
    [
        ("initial_window", 4, "initcwnd 4"),
        ("mss", 536, "advmss 548"),
        ("min_rto", "5 ms", "rto_min 5ms"),
        ("delayed_ack_segments", 1, "quickack 1"),
        ("congestion_control", "reno", "congctl reno"),
    ],
)
def test_a_parameter_of_routes_goes_to_the_route(parameter, value, word):
    assert word in stack.choose(transport("linux", **{parameter: value}), FLOWS)[0].route


def test_a_parameter_that_linux_has_no_setting_for_is_named():
    _, warnings = stack.choose(transport("linux", cubic_beta=0.5, sack=False), FLOWS)
    assert warnings == ["Linux has no setting for `transport.cubic_beta`: hosts use Linux's behaviour"]


def test_hosts_with_multipath_tcp_are_refused_with_what_has_them():
    with pytest.raises(EmulationError, match=r"does not support Multipath TCP") as refused:
        stack.choose(transport("linux", mptcp="ndiffports"), FLOWS)
    assert "weft reproduce smoc --emulated" in refused.value.hint


def test_hosts_without_tcp_are_refused_with_what_simulates_them():
    with pytest.raises(EmulationError, match=r"`transport.protocol` is `roce`") as refused:
        stack.choose({"profile": "roce", "congestion": None, "parameters": {"mtu": 1000}}, FLOWS)
    assert "`weft run` simulates it" in refused.value.hint


def test_a_profile_that_linux_cannot_be_runs_as_linux_with_a_warning():
    chosen, warnings = stack.choose(transport("ns3-3.26"), FLOWS)
    assert chosen == stack.choose(transport("linux"), FLOWS)[0]
    assert "cannot behave like `ns3-3.26`" in warnings[0]


def test_a_congestion_control_that_the_kernel_lacks_is_refused_with_those_it_has(monkeypatch, tmp_path):
    available = tmp_path / "available"
    available.write_text("reno cubic\n")
    monkeypatch.setattr(stack, "setting", lambda name: available)
    with pytest.raises(EmulationError, match=r"no congestion control `dctcp`, only cubic, reno"):
        stack.choose(transport("dctcp"), FLOWS)


def test_programs_at_the_prompt_get_ports_that_no_flow_has():
    flows = [flow(0, "h0", "h1", 0.0) | {"sport": port} for port in range(60_000, 65_000)]
    first, last = map(int, stack.choose(transport("linux"), flows)[0].settings["net.ipv4.ip_local_port_range"].split())
    assert last - first == 999
    assert last < 60_000


def test_a_setting_that_the_kernel_changes_is_an_error(root, tmp_path, monkeypatch):
    file = tmp_path / "setting"
    monkeypatch.setattr(stack, "setting", lambda name: file)
    file.write_text("")
    assert stack.write({"net.a": "1"}) == {"net.a": "1"}
    monkeypatch.setattr(type(file), "read_text", lambda *_, **__: "7\n")
    with pytest.raises(EmulationError, match=r"net\.a is '7' after setting it to '1'"):
        stack.write({"net.a": "1"})
