"""Figures for papers: every one is written, and the same data gives the same file."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from matplotlib.figure import Figure

import sample
from test_study import world
from weft import Results, extracts, plot
from weft.content import Content
from weft.figures import comparison
from weft.figures.style import FORMATS
from weft.studies.packet_spraying import figures


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


@pytest.fixture
def drawn(monkeypatch):
    """Properties of each saved figure, recorded when it is saved."""
    seen = []
    plain = Figure.savefig

    def savefig(figure, *arguments, **options):
        figure.canvas.draw()
        seen.append(
            {
                "labels": [list(shown(axis)) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)],
                "heights": {ax.get_ylim() for ax in figure.axes},
                "cut": [one for one in figure.legends if not within(one.get_window_extent(), figure.bbox)],
                "reach": max((line.get_ydata().max() for ax in figure.axes for line in ax.lines), default=0.0),
            }
        )
        plain(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return seen


def within(inner, outer):
    return inner.x0 >= outer.x0 and inner.x1 <= outer.x1 and inner.y0 >= outer.y0 and inner.y1 <= outer.y1


def test_a_legend_of_long_names_is_not_cut(tmp_path, drawn):
    sizes = [{"fixed": "100 kB"}, {"fixed": "50 kB"}, "web-search"]
    sweep = {"traffic.sizes": sizes, "traffic.load": [0.2, 0.4]}
    plot(Results(sample.write_results(tmp_path / "r", sweep, seeds=1, flows=60, samples=4)), tmp_path / "f", ("svg",))
    assert len(drawn) > 5
    assert all(not figure["cut"] for figure in drawn)


def shown(axis):
    """The labels of an axis with their boxes."""
    for label in axis.get_ticklabels():
        if label.get_text() and label.get_visible():
            yield label.get_text(), label.get_rotation(), label.get_window_extent()


def test_labels_of_an_axis_keep_apart(small, tmp_path, drawn):
    for end in (1.0, 0.82, 0.6, 0.31):
        for path in small.path.glob("runs/*/summary.json"):
            path.write_text(json.dumps(json.loads(path.read_text()) | {"window_ps": [0, int(end * 1e12)]}))
        results = Results(small.path)
        content = Content(results, None)
        largest, exceedance = extracts.largest_queue(results), extracts.queue_exceedance(results)
        comparison.queues(content, largest, exceedance, content.points[0], tmp_path / "queues", ("svg",))
        delivered = extracts.throughput_over_time(results)
        comparison.over_time(content, delivered, content.points[0], tmp_path / "delivered", ("svg",))
    close = [
        (one, other)
        for figure in drawn
        for labels in figure["labels"]
        for (one, angle, a), (other, _, b) in pairwise(labels)
        if angle == 0 and a.padded(2).overlaps(b)
    ]
    assert close == []


def test_panels_of_a_study_side_by_side_have_the_same_vertical_axis(tmp_path, drawn):
    figures.draw(world(seeds=2), tmp_path, ("svg",))
    assert len(drawn) == 8
    for figure in drawn:
        ((low, high),) = figure["heights"]
        assert low == 0
        assert figure["reach"] < high


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_that_is_offered_is_written_and_the_same_twice(small, tmp_path, kind):
    files = [
        comparison.by_class(Content(small, None), "mean_fct_s", tmp_path / name, (kind,))[0] for name in ("a", "b")
    ]
    assert files[0].name == f"a.{kind}"
    assert files[0].read_bytes() == files[1].read_bytes()
