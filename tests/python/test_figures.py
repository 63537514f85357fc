"""Figures for papers: every one is written, and the same data gives the same file."""

from __future__ import annotations

import pytest

import sample
from weft import OutputError, Results, plot


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "results"
    return Results(sample.write_results(folder, {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=60, samples=10))


def test_every_figure_is_written_in_every_format(small, tmp_path):
    names = {path.name for path in plot(small, tmp_path, ("png", "pdf"))}
    stems = ("fct-mean", "fct-median", "fct-p99", "slowdown", "throughput", "out-of-order")
    stems += ("fct-cdf", "throughput-time", "queues", "fabric")
    assert names == {f"{stem}.{kind}" for stem in stems for kind in ("png", "pdf")}
    assert (tmp_path / "fct-mean.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "fct-mean.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_format_is_refused_by_name(small, tmp_path):
    with pytest.raises(OutputError, match=r"cannot write figures as `docx`: choose from .*pdf"):
        plot(small, tmp_path, ("docx",))
    assert list(tmp_path.iterdir()) == []
