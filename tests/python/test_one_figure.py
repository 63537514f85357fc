"""`weft.figure`: one figure with the width, labels, axes and fonts that are asked for."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import sample
from weft import OutputError, Results, figure, plot
from weft.figures import paper

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "results"
    return Results(sample.write_results(folder, {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=60, samples=10))


@pytest.fixture
def drawn(monkeypatch):
    """The specifications that were drawn, as Vega-Lite gets them."""
    seen = []
    plain = paper._svg
    monkeypatch.setattr(paper, "_svg", lambda spec: (seen.append(spec), plain(spec))[1])
    return seen


def texts(svg):
    """All texts of a drawing."""
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def labelled(small):
    """A distribution with changes."""
    labels = {"ecmp": "ECMP", "mouse": "< 10 kB", "x": "completion", "y": "flows"}
    return figure(small, "fct-cdf", width="column", labels=labels, font="DejaVu Sans Mono", font_size=12, ccdf=True)


def test_a_figure_has_the_width_labels_and_font_that_are_asked_for(labelled):
    shown = texts(labelled.svg)
    assert {"ECMP", "spray", "< 10 kB", "rabbit", "completion", "flows"} <= set(shown)
    assert {"ecmp", "mouse", "flow completion time"} & set(shown) == set()
    assert 'width="252pt"' in labelled.svg
    fonts = set(re.findall(r'font-family="([^"]*)"', labelled.svg))
    assert fonts == {"DejaVu Sans Mono"}
    sizes = re.findall(r'font-size="([\d.]+)px"[^>]*>(?:completion|flows)<', labelled.svg)
    assert set(sizes) == {"16"}, "12 points"


def test_a_figure_is_saved_in_the_format_of_its_name(labelled, small, tmp_path):
    assert labelled.name == "fct-cdf"
    assert labelled.save(tmp_path / "own.pdf").read_bytes().startswith(b"%PDF")
    plain = figure(small, "fct-cdf").save(tmp_path / "plain.svg")
    [same] = plot(small, tmp_path, ("svg",), only=("fct-cdf",))
    assert plain.read_bytes() == same.read_bytes()
    with pytest.raises(OutputError, match="cannot write figures as `doc`"):
        labelled.save(tmp_path / "own.doc")


def test_figures_of_a_notebook_share_no_ids_and_have_fonts_that_others_have(small):
    shown = [figure(small, name)._repr_svg_() for name in ("fct-mean", "fct-median")]
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in shown]
    assert ids[0]
    assert ids[0] & ids[1] == set()
    for svg, own in zip(shown, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= own
        assert '"Liberation Sans, Arial, Helvetica, sans-serif"' in svg


@pytest.mark.parametrize(("log_x", "log_y"), [(None, None), (False, True), (True, False)])
def test_axes_are_logarithmic_as_asked_for(small, drawn, log_x, log_y):
    figure(small, "fct-cdf", log_x=log_x, log_y=log_y)
    [layer, *_] = drawn[-1]["spec"]["layer"]
    kinds = [layer["encoding"][axis]["scale"].get("type", "linear") == "log" for axis in ("x", "y")]
    assert kinds == [log_x is not False, log_y is True]


def test_a_figure_with_wide_texts_has_no_margins(small):
    svg = figure(small, "fct-cdf", width=1.5, labels={"x": "a very long title of an axis " * 4}).svg
    size = r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 ([\d.]+) ([\d.]+)'
    wide, high, *box = map(float, re.search(size, svg).groups())
    assert wide == 108
    assert wide / high == pytest.approx(box[0] / box[1], rel=1e-4)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("fct-cfd", {}, "there is no figure `fct-cfd`: choose from fct-mean"),
        ("fct-mean", {"log_x": True}, "`fct-mean` does not take `log_x`: it takes log_y"),
        ("fabric", {"ccdf": True}, "`fabric` does not take `ccdf`: it takes none of these"),
        (
            "fct-cdf",
            {"labels": {"ecpm": "ECMP"}},
            "nothing named `ecpm` to label .* choose from ecmp, spray",
        ),
        ("fct-cdf", {"labels": {"ecmp": "A", "spray": "A"}}, "two schemes have the same label"),
        ("fct-cdf", {"font": "Nonesuch"}, "no font `Nonesuch` on this machine"),
        ("fct-cdf", {"font_size": 0}, "font_size is in points, from 4 to 40, not 0"),
        ("fct-cdf", {"width": "page"}, "width is 1.5 to 40 inches, `column` .* not `page`"),
        ("fct-cdf", {"width": 0.1}, "not `0.1`"),
    ],
)
def test_a_figure_that_cannot_be_is_refused(small, name, options, message):
    with pytest.raises(OutputError, match=message):
        figure(small, name, **options)


def test_a_figure_of_a_point_needs_the_point(results):
    with pytest.raises(OutputError, match="`queues` is a figure for each point of the sweep") as refused:
        figure(results, "queues")
    assert "at='load 0.4'" in str(refused.value)
    found = [figure(results, "queues", at=at) for at in ("load 0.4", {"traffic.load": 0.4})]
    assert found == [figure(results, "queues-load-0.4")] * 2
    assert figure(results, "fabric", at="load 0.2", labels={"ecmp": "ECMP"}).svg.count(">ECMP<") == 1
    with pytest.raises(OutputError, match="no point 'load 3': choose from 'load"):
        figure(results, "queues", at="load 3")


def test_a_figure_of_one_class_does_not_repeat_it_as_the_sum(engine_results):
    drawing = figure(engine_results, "throughput-time")
    assert len(engine_results.flows()["class"].unique()) == 1
    assert ">rabbit<" in drawing.svg and ">all<" not in drawing.svg


def test_an_unknown_option_is_answered_with_the_options(small):
    with pytest.raises(
        TypeError, match=r"weft\.figure has no option `logx`: did you mean `log_x`\? Its options are at, width"
    ):
        figure(small, "fct-cdf", logx=True)


@pytest.mark.parametrize("ccdf", [False, True])
def test_a_logarithmic_axis_of_shares_ends_with_a_labelled_100_percent(small, ccdf):
    svg = figure(small, "fct-cdf", ccdf=ccdf, log_y=True).svg
    classes = len(small.flows()["class"].unique())
    assert texts(svg).count("100 %") == classes
