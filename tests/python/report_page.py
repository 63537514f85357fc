"""Steps on a report in headless Chromium."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest


def settled(page):
    """Wait until the charts show the chosen state."""
    page.wait_for_function("!document.documentElement.dataset.busy")


FOLLOW = """fragment => new Promise(done => {
  const before = location.hash;
  addEventListener("hashchange", () => done(), { once: true });
  location.hash = fragment;
  if (location.hash === before) done();
})"""
"""Changes the fragment of the page's address; fulfilled after the page's own listener has run."""


def go(page, fragment):
    """Follow a link to a state of the page."""
    page.evaluate(FOLLOW, fragment)
    settled(page)


RESIZED = """width => { window.resized = innerWidth === width ? Promise.resolve()
  : new Promise(done => addEventListener("resize", () => done(), { once: true })); }"""
"""Prepares a promise that is fulfilled once the page's own listener has handled the next change of size."""


def resize(page, width, height=900):
    """Change the size of the window."""
    page.evaluate(RESIZED, width)
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("() => window.resized")
    settled(page)


def fragment(page):
    """The choices in the page's address."""
    return parse_qs(page.evaluate("location.hash.slice(1)"))


def saved(page, selector):
    """The text of the file that a button saves."""
    with page.expect_download() as download:
        page.locator(selector).click()
    return download.value.path().read_text()


OVERLAPS = """() => [...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const corners = text => {
    const box = text.getBBox(), at = text.getScreenCTM(), inset = Math.min(2, box.height / 4);
    return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => new DOMPoint(
      box.x + (x ? box.width - 1 : 1), box.y + (y ? box.height - inset : inset)).matrixTransform(at));
  };
  const seen = text => text.textContent.trim() && +getComputedStyle(text).opacity > 0;
  const texts = [...svg.querySelectorAll('text')].filter(seen).map(text => [text.textContent, corners(text)]);
  const apart = (a, b) => [a, b].some(quad => [0, 1].some(i => {
    const [dx, dy] = [quad[i + 1].x - quad[i].x, quad[i + 1].y - quad[i].y];
    const along = points => points.map(point => point.x * dx + point.y * dy);
    return Math.max(...along(a)) <= Math.min(...along(b)) || Math.max(...along(b)) <= Math.min(...along(a));
  }));
  return texts.flatMap(([name, box], i) =>
    texts.slice(i + 1).filter(([, other]) => !apart(box, other)).map(([other]) => `${name} / ${other}`));
})"""
"""Pairs of texts of a chart whose rotated boxes overlap, by the separating axis theorem."""


def count(page, selector):
    return page.locator(selector).count()


def lines_of(page, chart):
    """Number of lines in a chart."""
    return count(page, f"#{chart} svg .mark-line path")


def titles(page, chart):
    return page.locator(f"#{chart} svg .role-title text").all_text_contents()


def activate(page, selector, how, modifier=None):
    """Use a control by mouse or by keyboard."""
    if how == "mouse":
        page.locator(selector).click(modifiers=[modifier] if modifier else [])
    else:
        page.locator(selector).focus()
        page.keyboard.press(f"{modifier}+Enter" if modifier else "Enter")
    settled(page)


HOW = pytest.mark.parametrize("how", ["mouse", "keyboard"])
