"""The Grafana dashboard: its form, and its queries and those of alerts at a real Prometheus server."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from prometheus import alerts, dashboard, panels, promtool, queries

OF_PROMETHEUS = {"up", "ALERTS"}
WORDS = {"and", "or", "unless"}
MOST_SERIES = 1000


def metrics_of(query: str) -> set[str]:
    """The metrics in a PromQL expression."""
    query = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", query)
    query = re.sub(r"\b(by|on)\s*\([^)]*\)", " ", query)
    return set(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", query)) - WORDS


def series_of(text: str) -> list[str]:
    """The names of all series of a target's text."""
    return [re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")]


def test_the_metrics_of_an_expression_are_found():
    query = (
        'sum by (le, job) (rate(a_total{b="c and d"}[5m])) > 1 and on (x) max_over_time(e{f="g"}[1d]) == 1 or vector(0)'
    )
    assert metrics_of(query) == {"a_total", "e"}


def test_grafana_finds_all_that_it_needs_to_import_the_dashboard():
    found = dashboard()
    assert found["schemaVersion"] >= 36 and found["uid"] == "weft" and found["title"] == "Weft"
    variables = {variable["name"]: variable for variable in found["templating"]["list"]}
    assert list(variables) == ["datasource", "job", "instance"]
    assert (variables["datasource"]["type"], variables["datasource"]["query"]) == ("datasource", "prometheus")
    assert all(variables[name]["multi"] and variables[name]["includeAll"] for name in ("job", "instance"))
    counts = Counter(panel["id"] for panel in found["panels"])
    assert set(counts.values()) == {1}
    source = {"type": "prometheus", "uid": "${datasource}"}
    for panel in panels():
        assert panel["type"] in ("stat", "table", "timeseries")
        assert panel["title"] and panel["description"].endswith(".") and panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"] == source and all(one["datasource"] == source for one in panel["targets"])
        letters = [one["refId"] for one in panel["targets"]]
        assert len(letters) == len(set(letters)) >= 1


def test_every_query_is_limited_to_the_chosen_jobs_and_instances():
    for panel in panels():
        for one in panel["targets"]:
            for selector in re.findall(r"weft_\w+(\{[^}]*\})?", one["expr"]):
                assert selector.startswith('{job=~"$job", instance=~"$instance"'), one["expr"]


def test_no_two_panels_overlap():
    places = [panel["gridPos"] for panel in dashboard()["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below, (one, other)


def test_prometheus_scrapes_daemons_and_controller(seen):
    assert len(seen["up"]) == 3 and set(seen["up"].values()) == {"1"}
    assert seen["ready"] == ["1"]


@pytest.mark.parametrize("query", queries())
def test_every_query_of_the_dashboard_finds_data_in_a_real_prometheus(seen, query):
    result = seen["results"][query]
    assert result["status"] == "success", result
    assert result["data"]["result"], "no data"


def test_every_rule_is_evaluated_without_an_error(seen):
    assert seen["rules"] == {rule["alert"]: "" for rule in alerts()}


def test_every_metric_of_dashboard_and_alerts_is_exported(seen):
    exported = {name for text in seen["texts"].values() for name in series_of(text)}
    used = set().union(*map(metrics_of, [*queries().values(), *(rule["expr"] for rule in alerts())]))
    assert len(used) > 60
    assert used - exported - OF_PROMETHEUS == set()


def test_metrics_follow_prometheus_s_conventions(seen):
    for address, text in seen["texts"].items():
        promtool("check", "metrics", text=text)
        assert len(series_of(text)) < MOST_SERIES, address
        for name, help_ in re.findall(r"^# HELP (\S+) (.*)$", text, flags=re.MULTILINE):
            assert name.startswith(("weft_switchd_", "weft_controller_", "process_")), name
            assert re.match(r"[A-Z01]", help_) and help_.endswith(".") and ".." not in help_, (name, help_)
        kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.MULTILINE))
        assert all(name.endswith("_total") == (kind == "counter") for name, kind in kinds.items())
        # Labels that Prometheus adds itself.
        assert not re.search(r"[{,](job|instance|switch_id)=", text)
