"""The gallery has a valid scenario, a sentence and a small picture for each of its entries, and no others."""

from __future__ import annotations

import re

import pytest
from PIL import Image

import gallery
import weft
from weft import bundle


def test_the_page_lists_exactly_the_scenarios_of_the_gallery():
    files = {path.stem for path in gallery.SCENARIOS.glob("*.toml")}
    assert set(gallery.FIGURES) == files
    assert len(files) == 20
    assert {path.stem for path in gallery.PICTURES.iterdir()} == files
    assert gallery.PAGE.read_text() == gallery.page()
    assert re.findall(r"^## (.*)$", gallery.PAGE.read_text(), re.M) == list(gallery.FIGURES)


@pytest.mark.parametrize("name", gallery.FIGURES)
def test_a_scenario_of_the_gallery_is_valid_and_has_a_small_picture(name):
    scenario = weft.Scenario.from_file(gallery.SCENARIOS / f"{name}.toml")
    assert 2 <= len({point.label for point in scenario.points()}) <= 12
    assert [text for text in scenario.check()[1] if "one path" not in text] == []
    picture = gallery.PICTURES / f"{name}.png"
    assert picture.stat().st_size < 40_000
    assert Image.open(picture).width > 800


def test_the_gallery_belongs_to_the_scenarios_of_the_package(tmp_path):
    copied = {path.relative_to(tmp_path).as_posix() for path in bundle.copy(tmp_path)}
    assert {f"gallery/{name}.toml" for name in gallery.FIGURES} <= copied
