"""A run's plan for execution elsewhere: the same hosts, links and flows as in the simulation."""

from __future__ import annotations

import json

import polars as pl
import pytest

import weft as api
from tiny import TINY
from weft import _weft


def plan(point_id: str) -> dict:
    return json.loads(_weft.plan(TINY, "tiny.toml", ".", [], point_id))


def test_the_flows_of_a_plan_are_those_of_the_simulation(engine_results):
    for run in engine_results.finished:
        planned = pl.DataFrame(plan(run.id)["flows"])
        simulated = pl.read_parquet(run.path / "flows.parquet").sort("flow")
        assert planned.height > 10
        for column in planned.columns:
            assert planned[column].to_list() == simulated[column].to_list(), column


def test_a_plan_does_not_depend_on_how_many_seeds_there_are(engine_results):
    run = engine_results.finished[0]
    more = json.loads(_weft.plan(TINY, "tiny.toml", ".", ["run.seeds=5"], run.id))
    assert more["flows"] == plan(run.id)["flows"]


def test_a_run_that_is_not_there_is_refused_by_name():
    with pytest.raises(api.ScenarioError, match="no run `nope`"):
        plan("nope")
    run = api.Scenario.from_text(TINY).points()[0].id
    with pytest.raises(api.ScenarioError, match="no link 99: the fabric has 8"):
        _weft.routes(TINY, "tiny.toml", ".", [], run, [99])


def test_next_hops_are_those_of_the_cables_that_are_up():
    run = api.Scenario.from_text(TINY).points()[0].id
    links = plan(run)["links"]
    cut = next(at for at, link in enumerate(links) if (link["a"]["node"], link["b"]["node"]) == ("l0", "s0"))
    routes = json.loads(_weft.routes(TINY, "tiny.toml", ".", [], run, [cut]))
    assert plan(run)["routes"]["l0"]["h3"] == [2, 3]
    assert routes["l0"] == {"h0": [0], "h1": [1], "h2": [3], "h3": [3]}
