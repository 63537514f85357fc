"""Every time that a scheme takes, at zero: the run ends, or the scenario is refused with the least possible value."""

import json

import pytest

import weft as package

LEAST = "0 s"
TIMED = [
    (entry["name"], param["name"])
    for entry in package.schemes()
    for param in entry["params"]
    if param["kind"] == "a time"
]


def scenario(scheme: str, key: str) -> str:
    fabric = (
        'kind = "fat-tree"\nk = 4'
        if scheme == "tag_forward"
        else 'kind = "spine-leaf"\nspines = 4\nleaves = 4\nhosts_per_leaf = 2'
    )
    return f"""\
[fabric]
{fabric}
rate = "10 Gbps"
ecn_threshold = "20 packets"

[traffic]
sizes = {{ fixed = "50 kB" }}
arrivals = "at-once"
flows = 8
pairs = "permutation"

[scheme]
name = "{scheme}"
{key} = {json.dumps(LEAST)}

[transport]
profile = "dctcp"

[run]
duration = "5 ms"
limit = "20 ms"
"""


@pytest.mark.parametrize(("scheme", "key"), TIMED)
def test_a_time_of_zero_is_refused_or_the_run_ends(scheme, key, tmp_path, weft):
    path = tmp_path / "scenario.toml"
    path.write_text(scenario(scheme, key))
    done = weft("run", path, "-o", tmp_path / "out")
    if done.exit_code == 0:
        (run,) = package.Results(tmp_path / "out").summaries()
        assert run["counters"]["flows_started"] == 8
    else:
        assert done.exit_code == 2
        assert key in done.output.partition("\n")[0]
        assert "expected" in done.output
        assert not (tmp_path / "out").exists()


def test_probes_of_hermes_without_a_pause_are_refused(tmp_path):
    with pytest.raises(package.ScenarioError, match=r"`scheme\.probe` is 0 s"):
        package.Scenario.from_text(scenario("hermes", "probe"), "hermes.toml").check()
