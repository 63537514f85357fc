"""The pages as a site: nothing is missing, and a newcomer's path is short."""

from __future__ import annotations

import re

import weft
from test_docs import DOCS, ROOT

LIMIT = 4000
"""Words that a newcomer must read."""


def test_the_site_lists_every_page():
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    listed = re.findall(r"- ([\w-]+\.md)$", nav, re.M)
    assert sorted(listed) == sorted(page.name for page in DOCS.glob("*.md"))


def test_every_name_of_the_api_has_a_docstring():
    names = [name for name in weft.__all__ if name != "__version__"]
    assert [name for name in names if not getattr(weft, name).__doc__] == []


def test_the_path_of_a_newcomer_is_short():
    path = (DOCS / "README.md").read_text().split("## The path of a newcomer\n")[1].split("\n## ")[0]
    read = [path]
    for page, title in re.findall(r"\]\(([\w./-]+)#?([\w-]*)\)", path):
        text = (DOCS / page).read_text()
        if title:
            # From the page's beginning to the end of this section.
            parts = re.split(r"^(?=## )", text, flags=re.M)
            last = next(i for i, part in enumerate(parts) if part[3:].split("\n")[0].lower().replace(" ", "-") == title)
            text = "".join(parts[: last + 1])
        read.append(text)
    words = [len(text.split()) for text in read]
    assert len(read) == 6
    assert sum(words) < LIMIT, words
