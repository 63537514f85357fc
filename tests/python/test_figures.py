"""Figures: the page and files have the same specification, and the same data gives the same file."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import sample
from test_study import world
from weft import Results, plot, report
from weft.content import Content
from weft.figures import paper, write
from weft.figures.figure import Drawn
from weft.figures.paper import FORMATS
from weft.figures.registry import FIGURES
from weft.studies.packet_spraying import figures

SVG = "{http://www.w3.org/2000/svg}"
STEMS = [
    measure.file for figure in FIGURES for measure in figure.measures if measure.file and measure.key != "p999_fct_s"
]
STEMS += [*(figure.file for figure in FIGURES if figure.file), "fabric"]


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


@pytest.fixture(scope="module")
def on_page(small, tmp_path_factory):
    """The specifications in the page."""
    html = report(small, tmp_path_factory.mktemp("page") / "report.html").read_text()
    packed = re.search(r'<script type="text/plain" id="specs">([^<]*)', html)[1]
    return json.loads(zlib.decompress(b64decode(packed)))["figures"]


@pytest.fixture(scope="module")
def written_twice(small, tmp_path_factory):
    """All figures in all formats, drawn twice."""
    return [plot(small, tmp_path_factory.mktemp("twice") / "figures", FORMATS) for _ in range(2)]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_figure_is_written_in_every_format_and_the_same_twice(written_twice, kind):
    begins = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<svg", "jpg": b"\xff\xd8", "tif": b"II", "webp": b"RIFF"}
    first, again = ([path for path in paths if path.suffix == f".{kind}"] for paths in written_twice)
    assert [path.name for path in first] == [f"{stem}.{kind}" for stem in STEMS]
    assert len(written_twice[0]) == len(STEMS) * len(FORMATS)
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes().startswith(begins[kind]), one.name
        assert one.read_bytes() == other.read_bytes(), one.name


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.ident)
def test_the_page_and_files_have_the_same_specification(small, on_page, drawn, tmp_path, figure):
    content = Content(small, None)
    measures = [one for one in figure.known(content) if one.file] or [None]
    write(small, tmp_path, ("svg",), only=[one.file for one in measures if one] or [figure.file])
    assert len(drawn) == len(measures)
    for measure, spec in zip(measures, drawn, strict=True):
        shown = on_page[figure.ident][measure.key if measure else ""][",".join(sorted(figure.pressed))]
        tips = [layer for panel in panels(shown) for layer in panel["layer"] if not paper._of_page(layer)]
        assert [layer for panel in panels(spec) for layer in panel["layer"]] == tips
        for key in set(shown) - {"spec", "concat"}:
            assert spec[key] == shown[key], key


def panels(spec):
    return spec.get("concat") or [spec["spec"]]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.ident)
def test_the_page_has_a_specification_for_each_choice_of_switches(small, on_page, figure):
    content = Content(small, None)
    assert set(on_page[figure.ident]) == {one.key for one in figure.known(content)} or {""}
    for of_measure in on_page[figure.ident].values():
        assert len(of_measure) == 2 ** len(figure.toggles)
        assert len({json.dumps(spec) for spec in of_measure.values()}) == len(of_measure)


def test_texts_stay_texts(small, tmp_path):
    files = plot(small, tmp_path, ("svg", "pdf"), only=("fct-cdf",))
    texts = [text.text for text in ElementTree.parse(files[0]).iter(f"{SVG}text")]
    assert {"ecmp", "spray", "share of flows", "flow completion time", "mouse"} <= set(texts)
    assert set(re.findall(rb"/BaseFont /\w+\+(\w+)", files[1].read_bytes())) == {b"LiberationSans"}
    assert b"/ToUnicode" in files[1].read_bytes()


def labels_of(path):
    """The labels of each axis along the panel: positions, texts."""
    for axis in ElementTree.parse(path).iter(f"{SVG}g"):
        if "role-axis-label" in axis.get("class", ""):
            texts = [one for one in axis.iter(f"{SVG}text") if one.text]
            yield [([float(x) for x in re.findall(r"[-\d.]+", one.get("transform"))], one.text) for one in texts]


@pytest.mark.parametrize("width", [None, 3.5])
def test_labels_of_an_axis_keep_apart(small, tmp_path, width):
    for end in (1.0, 0.31):
        for path in small.path.glob("runs/*/summary.json"):
            path.write_text(json.dumps(json.loads(path.read_text()) | {"window_ps": [0, int(end * 1e12)]}))
        for path in plot(Results(small.path), tmp_path, ("svg",), width=width):
            for labels in labels_of(path):
                flat = [(place, text) for place, text in labels if len(place) == 2]
                for ((x, y), one), ((at, high), other) in pairwise(flat):
                    apart = abs(y - high) >= 11 or abs(x - at) >= 2.7 * (len(one) + len(other))
                    assert apart, (path.name, one, other)


def test_a_legend_of_long_names_is_not_cut(tmp_path):
    sizes = [{"fixed": "100 kB"}, {"fixed": "50 kB"}, "web-search"]
    sweep = {"traffic.sizes": sizes, "traffic.load": [0.2, 0.4]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=1, flows=60, samples=4))
    free, fitted = (plot(found, tmp_path / str(width), ("svg",), only=STEMS[:-1], width=width) for width in (None, 3.5))
    for path in (*free, *fitted):
        root = ElementTree.parse(path).getroot()
        entries = [one for one in root.iter(f"{SVG}g") if "role-legend-label" in one.get("class", "")]
        assert len(entries) == len(found.schemes)
        assert {entry.find(f"{SVG}text").text for entry in entries} == set(found.schemes)


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("text", 7.16), ("5", 5.0)])
def test_a_figure_is_as_wide_as_it_is_asked_to_be(weft, small, tmp_path, width, inches):
    assert weft("plot", small.path, "-o", tmp_path, "--format", "svg", "--width", width).exit_code == 0
    for path in tmp_path.iterdir():
        root = ElementTree.parse(path).getroot()
        assert float(root.get("width").removesuffix("pt")) == pytest.approx(inches * 72), path.name
        wide = float(root.get("viewBox").split()[2])
        assert wide == pytest.approx(inches * 96, abs=2), path.name


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
        (("--only", "fct-mena"), "fabric can be followed by a point (`fct-by-size-load-0.2`): load-0.2 load-0.4"),
        (("--width", "wide"), "--width wide is not a width"),
        (("--width", "0"), "give 1.5 to 40 inches, `column` (3.5) or `text` (7.16)"),
    ],
)
def test_a_wrong_option_is_named_with_the_choices(weft, sample_dir, tmp_path, option, said):
    made = weft("plot", sample_dir, "-o", tmp_path / "f", *option)
    assert made.exit_code != 0
    assert said in " ".join(made.output.split())
    assert not (tmp_path / "f").exists()


def test_panels_of_a_study_side_by_side_have_the_same_vertical_axis(tmp_path, drawn):
    files = figures.draw(world(seeds=2), tmp_path, ("svg",))
    assert len(files) == len(drawn) == 8
    for path, spec in zip(files, drawn, strict=True):
        assert spec["resolve"]["scale"]["y"] == "shared"
        titles = [one.text for one in ElementTree.parse(path).iter(f"{SVG}text") if (one.text or "").startswith("mean")]
        assert len(titles) <= 1
        assert spec["spec"]["layer"][0]["encoding"]["y"]["scale"]["domainMin"] == 0


def test_points_of_schemes_stand_side_by_side_and_lines_differ_without_colour(results, drawn, tmp_path):
    [path] = plot(results, tmp_path, ("svg",), only=("fct-mean",))
    root = ElementTree.parse(path)
    marks = [one for one in root.iter(f"{SVG}g") if "mark-symbol role-mark" in one.get("class", "")]
    assert len(marks) == 3
    for panel in marks:
        xs = sorted(float(re.search(r"\(([\d.]+)", one.get("transform"))[1]) for one in panel.iter(f"{SVG}path"))
        assert len(xs) == 6
        assert all(b - a >= 4 for a, b in pairwise(xs))
    ranges = drawn[0]["config"]["range"]
    assert len({json.dumps(dash) for dash in ranges["dash"]}) == 3
    assert len({*ranges["symbol"]}) == 4


def test_bars_differ_without_colour(small, tmp_path):
    [path] = plot(small, tmp_path, ("svg",), only=("slowdown",))
    bars = [one for one in ElementTree.parse(path).iter(f"{SVG}g") if "mark-rect role-mark" in one.get("class", "")]
    for panel in bars:
        assert len({one.get("fill") for one in panel.iter(f"{SVG}path")}) == 2
    assert "url(#hatch-1)" in path.read_text()


def test_intervals_of_many_points_are_bands_in_files(tmp_path):
    schemes = ["single_path", "ecmp", "spray", "drill", "conga", "hula", "wcmp", "letflow", "presto"]
    sweep = {"scheme.name": schemes, "traffic.load": [round(0.1 + 0.05 * i, 2) for i in range(10)]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=2, flows=30, samples=5))
    [path] = plot(found, tmp_path / "f", ("svg",), only=("fct-mean",))
    text = path.read_text()
    assert text.count('class="mark-area') >= 27
    assert not re.search(r'class="mark-rule role-mark[^>]*><line', text)


def test_a_specification_contains_no_colours_and_no_data(small):
    content = Content(small, None)
    for figure in FIGURES:
        for measure in figure.known(content) or [None]:
            spec = json.dumps(figure.spec(Drawn(content, content.schemes, figure.pressed, measure)))
            assert "#" not in spec.replace("/schema/", "")
            assert "datasets" not in spec
