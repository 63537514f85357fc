"""Colours of schemes and links: apart for readers with the common deficiencies, and dark or light enough."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import weft
from colours import VISION, ciede2000, contrast, difference, linear
from weft import reporting
from weft.palette import COLORS, DIFFERENCE, DIFFERENCE_DARK, UTILISATION, UTILISATION_DARK, styles

SHEET = (Path(reporting.__file__).parent / "assets" / "page.css").read_text()
PAPER = re.search(r"--paper: light-dark\((#\w+), (#\w+)\)", SHEET).groups()
SCHEMES = [entry["name"] for entry in weft.schemes()]
EIGHTS = [SCHEMES[first : first + 8] for first in range(len(SCHEMES) - 7)]
"""Eight schemes in a row, from each one on."""
SAME_PLACE = ["single_path", "ecmp", "spray", "spanning_tree", "tag_forward", "letflow", "conga", "drill"]
"""Two of these have the same place in the palette."""


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
    ],
)
def test_differences_are_those_of_the_published_pairs(one, other, expected):
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_eight_schemes_are_apart_for_every_reader(vision, mode):
    pairs = combinations([colors[mode] for colors in COLORS], 2)
    assert min(difference(one, other, vision) for one, other in pairs) >= 12


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_marks_have_a_contrast_of_three_to_one_with_the_page(mode):
    marks = [colors[mode] for colors in COLORS]
    marks += (UTILISATION, UTILISATION_DARK)[mode] + (DIFFERENCE, DIFFERENCE_DARK)[mode]
    assert min(contrast(color, PAPER[mode]) for color in marks) >= 3


@pytest.mark.parametrize(("colors", "sign"), [(UTILISATION, -1), (UTILISATION_DARK, 1)])
def test_a_busier_link_stands_out_more_in_grey_too(colors, sign):
    light = [float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in colors]
    assert light == sorted(light, reverse=sign < 0)


def test_known_schemes_keep_their_style_in_any_company():
    alone = styles(["spray"])["spray"]
    assert styles(["a", "b", "ecmp", "spray"])["spray"] == alone
    assert styles(["tag_forward"])["tag_forward"] == styles(["spanning_tree"])["spanning_tree"]


@pytest.mark.parametrize("names", [*EIGHTS, SAME_PLACE, list("abcdefgh")])
def test_eight_schemes_have_eight_colours_markers_and_lines(names):
    found = styles(names)
    assert list(found) == names
    for part in ("color", "dark", "shape", "dash"):
        assert len({getattr(style, part) for style in found.values()}) == 8, part


def test_more_schemes_differ_in_marker_or_line():
    found = styles(["ecmp", "spray", *(f"flowlet gap={i} us" for i in range(40))])
    assert len({(style.color, style.shape) for style in found.values()}) == 42
