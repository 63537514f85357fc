"""The documentation says what is true: its Python runs, its tables name every key there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import weft

DOCS = Path(__file__).parents[2] / "docs"


def test_the_python_example_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / "python.md").read_text(), re.S | re.M)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "9 runs" in printed
    assert "did you mean `load`" in printed
    assert names["table"].height == 6
    assert (tmp_path / "results" / "first-look" / "report.html").is_file()


def properties(schema):
    """The names of all keys of a JSON Schema."""
    if isinstance(schema, dict):
        found = set(schema.get("properties", {}))
        return found.union(*(properties(value) for value in schema.values()))
    if isinstance(schema, list):
        return set().union(*(properties(value) for value in schema))
    return set()


def test_the_scenario_reference_names_every_key_of_the_schema():
    text = (DOCS / "scenario.md").read_text()
    schema = weft.schema()
    transport = {name for profile in weft.profiles() for name in flat(profile)}
    schemes = {p["name"] for scheme in weft.schemes() for p in scheme["params"]}
    missing = {name for name in properties(schema) - transport - schemes if not re.search(rf"\b{name}\b", text)}
    assert missing == set()


def flat(value):
    if isinstance(value, dict):
        return set(value).union(*(flat(part) for part in value.values()))
    return set()


@pytest.mark.parametrize(("file", "title"), [("flows.parquet", "flows.parquet"), ("series.parquet", "series.parquet")])
def test_the_results_page_names_every_column(file, title, engine_results):
    section = (DOCS / "results.md").read_text().split(f"## {title}")[1].split("\n## ")[0]
    run = engine_results.finished[0]
    for column in pl.read_parquet_schema(run.path / file):
        assert f"`{column}`" in section, column


def test_the_results_page_names_every_key_of_the_json_files(engine_results):
    text = (DOCS / "results.md").read_text()
    summary = json.loads((engine_results.finished[0].path / "summary.json").read_text())
    sweep = json.loads((engine_results.path / "sweep.json").read_text())
    for key in [*summary, *sweep, *sweep["runs"][0]]:
        assert re.search(rf"\b{key}\b", text), key
