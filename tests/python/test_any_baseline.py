"""Any scheme and any value of a swept key is a baseline after the fact, in tables, pages, files and Python."""

from __future__ import annotations

import json

import pytest

import sample
from tiny import TINY
from weft import Results, plot, report

PLAIN = TINY.partition("[sweep]")[0]


def printed(result):
    return " ".join((result.stdout + result.stderr).split())


@pytest.fixture
def written(tmp_path):
    def write(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_any_swept_key_is_compared_besides_schemes(weft, tmp_path):
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.4]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=2, flows=60, samples=4)
    for baseline, label in (("load=0.4", "ecmp load=0.4"), ("spray load=0.2", "spray load=0.2")):
        table = json.loads(weft("summary", directory, "--json", "--baseline", baseline).stdout)
        assert table["baseline"] == label
        assert {row["scheme"] for row in table["rows"]} == {
            f"{s} load={n}" for s in ("ecmp", "spray") for n in (0.2, 0.4)
        }
    assert Results(directory).summary(baseline="0.2")["mean_fct_s_ratio"].count() > 0
    refused = weft("summary", directory, "--baseline", "conga")
    assert "choose from ecmp, spray, or a value of a swept key: load=0.2, load=0.4" in printed(refused)
    page = report(directory, tmp_path / "report", baseline="0.4").read_text()
    [figure] = plot(directory, tmp_path, formats=("svg",), only=("fct-mean",), baseline="0.4")
    assert "spray load=0.2" in figure.read_text()
    assert "4 combinations of scheme and load" in page and "difference from <b>ecmp load=0.4</b>" in page


def test_a_scheme_is_the_baseline_again_whatever_is_stored(weft, tmp_path):
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.4]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=2, baseline="load=0.2", flows=60, samples=4)
    assert "difference from ecmp load=0.2" in printed(weft("summary", directory))
    table = json.loads(weft("summary", directory, "--json", "--baseline", "spray").stdout)
    assert table["baseline"] == "spray"
    assert {row["scheme"] for row in table["rows"]} == {"ecmp", "spray"}


def test_an_unknown_baseline_of_a_run_lists_schemes_and_values(weft, written, tmp_path):
    sweep = '[sweep]\n"scheme.name" = ["ecmp", "spray"]\n"traffic.load" = [0.2, 0.4]\n'
    refused = weft("run", written(PLAIN + sweep), "-o", tmp_path / "r", "--baseline", "conga")
    assert "one of ecmp, spray, load=0.2, load=0.4" in printed(refused)


def test_protocols_are_compared_without_another_swept_key(weft, written, tmp_path):
    out = tmp_path / "r"
    sweep = '[sweep]\n"transport.protocol" = ["roce", "uec"]\n'
    assert weft("run", written(PLAIN + sweep), "-o", out).exit_code == 0
    for baseline in ("roce", "uec"):
        assert f"difference from ecmp protocol={baseline}, same flows" in printed(
            weft("summary", out, "--baseline", baseline)
        )
        assert weft("report", out, "--baseline", baseline).exit_code == 0
        assert f"difference from <b>ecmp protocol={baseline}</b>" in (out / "report.html").read_text()
    drawn = weft("plot", out, "--format", "svg", "--only", "fct-mean", "--baseline", "uec")
    assert drawn.exit_code == 0, drawn.stderr
    figure = (out / "figures" / "fct-mean.svg").read_text()
    assert "ecmp protocol=roce" in figure and "ecmp protocol=uec" in figure
