"""`weft export --format frr`: what is written, and what is refused."""

from __future__ import annotations

import csv
import json
import re

import pytest

from weft import _weft
from weft.emulation.plan import Plan
from weft.frr.configuration import frr_conf
from weft.frr.readme import readme
from weft.frr.routers import routers
from weft.frr.systems import systems
from weft.scenario import Scenario

UNEQUAL = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 3
hosts_per_leaf = 1
rate = "10 Gbps"
failed = ["l2-s0"]
[[fabric.link]]
between = "l0-s1"
rate = "2500 Mbps"
[traffic]
sizes = { fixed = "30 kB" }
load = 0.1
[scheme]
name = "wcmp"
[run]
duration = "1 ms"
"""


def plan_of(fabric: str, scheme: str = "ecmp") -> Plan:
    traffic = '[traffic]\nflow_list = [{ src = "h0", dst = "h1", bytes = "1 kB", start = "0 s" }]\n'
    scenario = Scenario.from_text(f'[fabric]\n{fabric}\n{traffic}[scheme]\nname = "{scheme}"\n')
    return Plan.from_json(_weft.plan(*scenario.source, scenario.points()[0].id))


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "unequal.toml"
    path.write_text(UNEQUAL)
    return path


@pytest.fixture
def exported(weft, scenario, tmp_path):
    """The directory of an export."""
    out = tmp_path / "out"
    done = weft("export", scenario, "--format", "frr", "-o", out)
    assert done.exit_code == 0, done.stderr
    assert "5 switches" in done.stderr
    return out


def test_each_switch_has_its_files_and_the_table_names_every_port(exported):
    assert {path.name for path in exported.iterdir()} == {
        *("l0", "l1", "l2", "s0", "s1"),
        *("README.md", "interfaces.csv", "sysctl.conf"),
    }
    assert {path.name for path in (exported / "s0").iterdir()} == {"frr.conf", "daemons"}
    rows = list(csv.DictReader((exported / "interfaces.csv").open()))
    assert len(rows) == 2 * (3 + 6)
    [row] = [row for row in rows if row["interface"] == "l1-eth0"]
    assert (row["neighbour"], row["neighbour_interface"], row["prefix"]) == ("h1", "h1-eth0", "10.0.0.2/32")
    assert [row["interface"] for row in rows if row["up"] == "false"] == ["l2-eth1", "s0-eth2"]
    [slow] = [row for row in rows if row["interface"] == "l0-eth2"]
    assert slow["rate_bps"] == "2500000000"


def test_a_leaf_has_sessions_with_bfd_on_its_uplinks_and_announces_its_hosts(exported):
    text = (exported / "l0" / "frr.conf").read_text()
    for line in (
        "hostname l0",
        "frr defaults datacenter",
        " ip address 169.254.1.1 peer 10.0.0.1/32",
        "router bgp 4200000000",
        " bgp bestpath as-path multipath-relax",
        " neighbor l0-eth1 interface remote-as external",
        " neighbor l0-eth1 bfd profile fabric",
        "  maximum-paths 2",
        "  redistribute connected route-map own",
    ):
        assert line in text.splitlines(), line
    own = re.findall(r"^ip prefix-list own seq \d+ permit (.*)$", text, re.M)
    assert own == ["172.16.0.1/32", "10.0.0.1/32"]
    assert "neighbor l0-eth0" not in text, "no session with a host"


def test_a_link_that_is_down_is_shut(exported):
    for switch, interface in (("l2", "l2-eth1"), ("s0", "s0-eth2")):
        text = (exported / switch / "frr.conf").read_text()
        shut = [part for part in text.split("!\n") if " shutdown" in part]
        assert len(shut) == 1
        assert shut[0].startswith(f"interface {interface}\n")


def test_a_neighbour_announces_the_weights(exported):
    """l1 reaches h0 over s0 with four times the weight of s1, and h2 over s1 alone."""
    weight = {}
    for spine in ("s0", "s1"):
        text = (exported / spine / "frr.conf").read_text()
        assert f"  neighbor {spine}-eth1 route-map weights-{spine}-eth1 out\n" in text
        found = re.search(rf"route-map weights-{spine}-eth1 permit 10\n set extcommunity bandwidth (\d+)\n", text)
        weight[spine] = int(found[1])
    assert weight == {"s0": 4, "s1": 1}


def test_weights_that_differ_by_host_match_prefixes():
    """From l2, the way over s0 is slower towards h0, that over s1 towards h1."""
    slow = "\n".join(f'[[fabric.link]]\nbetween = "{link}"\nrate = "1 Gbps"' for link in ("l0-s0", "l1-s1"))
    fabric = f'kind = "spine-leaf"\nspines = 2\nleaves = 3\nhosts_per_leaf = 1\nrate = "4 Gbps"\n{slow}'
    plan = plan_of(fabric, "wcmp")
    assert (plan.weights["l2"]["h0"], plan.weights["l2"]["h1"]) == ([1, 4], [4, 1])
    [s0] = [router for router in routers(plan) if router.name == "s0"]
    [port] = [port for port in s0.ports if port.neighbour == "l2"]
    assert port.weights == {1: ("10.0.0.1",), 4: ("10.0.0.2",)}
    text = frr_conf(s0, "test")
    matched = (
        "ip prefix-list weight-1-s0-eth2 seq 5 permit 10.0.0.1/32\n!\n"
        "route-map weights-s0-eth2 permit 10\n match ip address prefix-list weight-1-s0-eth2\n"
        " set extcommunity bandwidth 1\nexit\n!\n"
        "route-map weights-s0-eth2 permit 20\n set extcommunity bandwidth 4\nexit\n"
    )
    assert matched in text


def test_without_different_weights_there_are_none(weft, scenario, tmp_path):
    for scheme in ("ecmp", "wcmp"):
        out = tmp_path / scheme
        equal = ("--set", 'fabric.link=[{ between = "l0-s1", rate = "10 Gbps" }]', "--set", f"scheme.name={scheme}")
        assert weft("export", scenario, "--format", "frr", "-o", out, *equal).exit_code == 0
        assert "bandwidth" not in (out / "s0" / "frr.conf").read_text()


def test_switches_of_a_tier_and_pod_share_a_system():
    numbers = systems(plan_of('kind = "fat-tree"\nk = 4'))
    edges = {numbers[f"e{place}"] for place in range(8)}
    assert len(edges) == 8
    assert numbers["a0"] == numbers["a1"] != numbers["a2"]
    assert len({numbers[f"c{place}"] for place in range(4)}) == 1
    assert len(set(numbers.values())) == 8 + 4 + 1
    assert min(numbers.values()) == 4_200_000_000


def test_without_tiers_each_switch_has_a_system(tmp_path):
    file = tmp_path / "line.fabric.toml"
    hosts = "".join(f'[[node]]\nname = "h{place}"\nrole = "host"\n' for place in range(2))
    nodes = "".join(f'[[node]]\nname = "s{place}"\ntier = 2\n' for place in range(3))
    ends = [("h0", "s0"), ("s0", "s1"), ("s1", "s2"), ("s2", "h1")]
    links = "".join(f'[[link]]\nbetween = ["{a}", "{b}"]\nrate = "1 Gbps"\n' for a, b in ends)
    file.write_text(f'name = "line"\n{hosts}{nodes}{links}')
    numbers = systems(plan_of(f'file = "{file}"'))
    assert len(set(numbers.values())) == 3
    assert len(set(systems(plan_of('kind = "ring"\nswitches = 5\nhosts_per_switch = 1')).values())) == 5


def test_other_schemes_are_refused_and_nothing_is_written(weft, scenario, tmp_path):
    done = weft("export", scenario, "--format", "frr", "-o", tmp_path / "out", "--set", "scheme.name=spray")
    assert done.exit_code == 2
    assert "`spray`" in done.stderr
    assert "--set scheme.name=ecmp" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leaf_0", "`leaf_0` is not a valid host name"),
        ("-leaf", "`-leaf` is not a valid host name"),
        ("../leaf", "`../leaf` is not a valid host name"),
        ("leaf-of-rack-17", "the interface `leaf-of-rack-17-eth0` has 20 characters, and Linux allows 15"),
    ],
)
def test_names_that_linux_refuses_are_refused(weft, tmp_path, name, message):
    nodes = "".join(f'[[node]]\nname = "h{place}"\nrole = "host"\n' for place in range(2))
    links = "".join(f'[[link]]\nbetween = ["h{place}", "{name}"]\nrate = "1 Gbps"\n' for place in range(2))
    text = f'name = "named"\n{nodes}[[node]]\nname = "{name}"\n{links}'
    (tmp_path / "named.fabric.toml").write_text(text)
    path = tmp_path / "named.toml"
    path.write_text(
        '[fabric]\nfile = "named.fabric.toml"\n[traffic]\nsizes = { fixed = "1 kB" }\nflows_per_second = 10\n'
        'pairs = "random"\n[scheme]\nname = "ecmp"\n'
    )
    done = weft("export", path, "--format", "frr", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr
    assert "in the fabric file" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_earlier_export_is_replaced_and_nothing_else(weft, scenario, exported, tmp_path):
    again = ("export", scenario, "--format", "frr", "-o", exported, "--set", "fabric.leaves=2")
    assert weft(*again, "--set", "fabric.failed=[]").exit_code == 0
    assert not (exported / "l2").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    (exported / "l0" / "notes").touch()
    done = weft("export", scenario, "--format", "frr", "-o", exported)
    assert done.exit_code == 2
    assert "holds other files (`l0`)" in done.stderr
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("mine")
    done = weft("export", scenario, "--format", "frr", "-o", other)
    assert done.exit_code == 2
    assert (other / "README.md").read_text() == "mine"
    done = weft("export", scenario, "--format", "frr", "-o", scenario)
    assert done.exit_code == 2
    assert "is a file" in done.stderr


def test_runs_with_different_schemes_need_a_choice(weft, scenario, tmp_path):
    sweep = ("--set", 'sweep."scheme.name"=["ecmp", "wcmp"]', "--set", 'sweep."traffic.load"=[0.1, 0.2]')
    out = ("--format", "frr", "-o", tmp_path / "out")
    done = weft("export", scenario, *out, *sweep)
    assert done.exit_code == 2
    asked = re.search(r"name one: --run (\S+)", done.stderr)
    assert weft("export", scenario, *out, *sweep, "--run", asked[1]).exit_code == 0
    done = weft("export", scenario, *out, *sweep, "--run", "none")
    assert (done.exit_code, "no run `none`" in done.stderr) == (2, True)
    assert weft("export", scenario, *out, *sweep[2:]).exit_code == 0, "loads do not matter"


def test_results_and_scenarios_are_not_mixed_up(weft, scenario, results, tmp_path):
    done = weft("export", results.path, "--format", "frr", "-o", tmp_path / "out")
    assert (done.exit_code, "is a directory" in done.stderr) == (2, True)
    done = weft("export", scenario, "--format", "frr")
    assert (done.exit_code, "-o unequal-frr" in done.stderr) == (2, True)
    done = weft("export", results.path, "--format", "fct", "--set", "traffic.load=1")
    assert (done.exit_code, "--set changes a scenario" in done.stderr) == (2, True)


def test_the_numbers_in_the_readme_are_those_of_the_export(exported):
    text = (exported / "README.md").read_text()
    assert "ip address add 10.0.0.1/32 dev h0-eth0\n" in text
    assert "ip route append 169.254.1.1/32 dev h0-eth0\n" in text
    assert json.dumps("weights of `wcmp`")[1:-1] in text
    for path in re.findall(r"`([\w./-]+\.(?:conf|csv))`", text):
        assert (exported / path).is_file() or (exported / "l0" / path).is_file(), path


def test_the_readme_has_the_routes_of_hosts_with_several_links(tmp_path):
    file = tmp_path / "dual.fabric.toml"
    nodes = "".join(f'[[node]]\nname = "h{place}"\nrole = "host"\n' for place in range(2))
    nodes += "".join(f'[[node]]\nname = "s{place}"\n' for place in range(2))
    ends = [("h0", "s0"), ("h0", "s1"), ("h1", "s0"), ("h1", "s1")]
    links = "".join(f'[[link]]\nbetween = ["{a}", "{b}"]\nrate = "1 Gbps"\n' for a, b in ends)
    file.write_text(f'name = "dual"\n{nodes}{links}')
    plan = plan_of(f'file = "{file}"')
    hop = "nexthop via 169.254.1.1 dev"
    assert f"ip route add default src 10.0.0.1 {hop} h0-eth0 {hop} h0-eth1\n" in readme(plan, routers(plan), "test")
