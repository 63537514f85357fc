"""The head of a run: its summary without the lists that grow with the fabric."""

import json

import pytest

from weft import heads
from weft.errors import ResultsError

SUMMARY = {
    "id": "ecmp-seed1",
    "links": [{"from": "h[0]", "to": "]", "up": True}, {"from": "]", "to": "h[0]", "up": True}],
    "name": 'a "links": [ b',
    "nodes": [{"name": "h[0]", "x": 0.5}, {"name": "]", "x": 0.5}],
    "window_ps": [0, 1],
}
HEAD = {"id": "ecmp-seed1", "name": 'a "links": [ b', "window_ps": [0, 1]}


@pytest.mark.parametrize("indent", [2, 4, None])
def test_a_head_is_the_summary_without_links_and_nodes(tmp_path, indent):
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(SUMMARY, indent=indent))
    assert heads.read(path) == HEAD


def test_lists_indented_as_the_engine_does_are_not_decoded(tmp_path):
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(SUMMARY, indent=2).replace("true", "nonsense").replace("0.5", "nonsense"))
    assert heads.read(path) == HEAD


def test_a_summary_that_is_cut_off_is_not_valid_json(tmp_path):
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(SUMMARY, indent=2)[:60])
    with pytest.raises(ResultsError, match="not valid JSON"):
        heads.read(path)


@pytest.mark.parametrize("text", ["[]", "7", "null"])
def test_another_value_is_not_the_summary_of_a_run(tmp_path, text):
    path = tmp_path / "summary.json"
    path.write_text(text)
    with pytest.raises(ResultsError, match="not the summary of a run"):
        heads.read(path)
