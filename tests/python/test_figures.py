"""Figures for papers: every one is written, and the same data gives the same file."""

from __future__ import annotations

import json
from itertools import pairwise
from xml.etree import ElementTree

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


def test_only_the_named_figures_are_written(weft, sample_dir, tmp_path):
    made = weft(
        "plot", sample_dir, "-o", tmp_path, "--format", "svg", "--only", "fct-mean", "--only", "queues-load-0.4"
    )
    assert made.exit_code == 0, made.output
    assert {path.name for path in tmp_path.iterdir()} == {"fct-mean.svg", "queues-load-0.4.svg"}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--only", "fct-mena"), "there is no figure `fct-mena`: choose from fct-mean, fct-median, fct-p99,"),
        (("--only", "fct-mena"), "fabric can be followed by a point (`fct-cdf-load-0.2`): load-0.2 load-0.4"),
        (("--width", "wide"), "--width wide is not a width"),
        (("--width", "0"), "give 1.5 to 40 inches, `column` (3.5) or `text` (7.16)"),
    ],
)
def test_a_wrong_option_is_named_with_the_choices(weft, sample_dir, tmp_path, option, said):
    made = weft("plot", sample_dir, "-o", tmp_path / "f", *option)
    assert made.exit_code != 0
    assert said in " ".join(made.output.split())
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("text", 7.16), ("5", 5.0)])
def test_a_figure_is_as_wide_as_it_is_asked_to_be(weft, small, tmp_path, drawn, width, inches):
    assert weft("plot", small.path, "-o", tmp_path, "--format", "svg", "--width", width).exit_code == 0
    for path in tmp_path.iterdir():
        root = ElementTree.parse(path).getroot()
        assert float(root.get("width").removesuffix("pt")) == pytest.approx(inches * 72), path.name
    assert all(not figure["cut"] for figure in drawn)
    close = [
        (one, other)
        for figure in drawn
        for labels in figure["labels"]
        for (one, angle, a), (other, _, b) in pairwise(labels)
        if angle == 0 and a.overlaps(b)
    ]
    assert close == []


def test_points_of_schemes_stand_side_by_side_and_lines_differ_without_colour(results, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: (figure.canvas.draw(), seen.append(look(figure))))
    comparison.by_class(Content(results, None), "mean_fct_s", tmp_path / "f", ("svg",))
    for ax in seen[0]:
        columns = list(zip(*[[x for x, _ in points] for points, _, _ in ax], strict=True))
        assert len(columns) == 2
        for across in columns:
            assert all(b - a >= 4 for a, b in pairwise(sorted(across)))
        assert len({(marker, dash) for _, marker, dash in ax}) == len(ax) == 3
        assert len({dash for _, _, dash in ax}) == 3


def look(figure):
    """For each axes, the positions in points, marker and dashes of each line with data."""
    return [
        [
            (
                (ax.transData.transform(bar[0].get_xydata()) * 72 / figure.dpi).tolist(),
                bar[0].get_marker(),
                str(bar[0]._unscaled_dash_pattern),
            )
            for bar in ax.containers
        ]
        for ax in figure.axes
    ]
