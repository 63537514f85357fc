"""The notebook runs, and shows what it would show today."""

from __future__ import annotations

import html
import json
import os
import re
from copy import deepcopy

import pytest

import run_notebook
from test_docs import DOCS

NOTEBOOK = DOCS / "notebook.ipynb"


@pytest.fixture(scope="module")
def stored():
    return json.loads(NOTEBOOK.read_text())


@pytest.fixture(scope="module")
def ran(stored):
    """The notebook with the outputs of today; `WEFT_UPDATE_SNAPSHOTS=1` stores them."""
    found = deepcopy(stored)
    run_notebook.run(found)
    if os.environ.get("WEFT_UPDATE_SNAPSHOTS"):
        run_notebook.write(found, NOTEBOOK)
    return found


def words(lines):
    """Words and numbers without markup: frames have other lines in other versions of Polars."""
    text = re.sub(r"<style.*?</style>|<[^>]+>", " ", "".join(lines), flags=re.S)
    return re.findall(r"[\w.±%−+-]+", html.unescape(text))


def shown(output):
    """An output by media type."""
    return {kind: words(lines) for kind, lines in (output.get("data") or {"text": output["text"]}).items()}


def outputs(notebook):
    """What each cell shows."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[shown(output) for output in cell["outputs"]] for cell in cells]


def test_the_notebook_shows_what_it_would_show_today(stored, ran):
    assert outputs(json.loads(NOTEBOOK.read_text())) == outputs(ran)


def test_the_notebook_goes_from_a_fabric_to_a_figure(ran):
    cells = ran["cells"]
    assert 10 <= len(cells) <= 15
    assert len({cell["id"] for cell in cells}) == len(cells)
    kinds = [kind for cell in outputs(ran) for output in cell for kind in output]
    assert {"text/html", "image/svg+xml", "text"} <= set(kinds)
    assert all(cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert NOTEBOOK.stat().st_size < 200_000


def test_the_links_of_the_notebook_lead_to_pages(stored):
    texts = "".join("".join(cell["source"]) for cell in stored["cells"] if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([\w-]+\.md)(?:#([\w-]+))?\)", texts)
    assert links
    for page, anchor in links:
        titles = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(), re.M)
        assert not anchor or anchor in {title.lower().replace(" ", "-") for title in titles}
