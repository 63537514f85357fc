"""HTML building blocks of the sections."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from ..palette import Style
from .markup import data_block, escape


def asset(name: str) -> str:
    """A style sheet or script of the report."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheet shared by all pages."""
    return asset("page.css")


def policy(*scripts: str, evaluates: bool = False) -> str:
    """A content security policy that forbids all connections and all scripts but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = [*(["'unsafe-eval'"] if evaluates else []), *(f"'sha256-{digest}'" for digest in digests)]
    return (
        "default-src 'none'; img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; "
        f"style-src 'unsafe-inline'; script-src {' '.join(allowed)}"
    )


def chart(ident: str, spec: dict[str, Any], label: str) -> str:
    """The container of a chart, with its Vega-Lite specification."""
    return (
        f'<div class="chart" id="{ident}" data-spec="{ident}-spec" role="figure" aria-label="{escape(label)}"></div>'
        + data_block(f"{ident}-spec", spec)
    )


def tabs(sets: str, choices: Sequence[tuple[str, str]]) -> str:
    """A segmented control; `sets` is what the script changes with it. Empty if there is only one choice."""
    if len(choices) < 2:
        return ""
    buttons = "".join(
        f'<button type="button" value="{escape(value)}" aria-pressed="{"true" if i == 0 else "false"}">'
        f"{escape(text)}</button>"
        for i, (value, text) in enumerate(choices)
    )
    return f'<div class="tabs" data-sets="{sets}">{buttons}</div>'


def section(title: str, caption: str, body: str, ident: str, *, controls: str = "") -> str:
    """A section with heading, caption and, to the right of the heading, controls."""
    return (
        f'<section id="{ident}"><div class="head"><h2>{escape(title)}</h2>{controls}</div>'
        f'<p class="caption">{caption}</p>{body}</section>'
    )


_MARKS = {
    "square": "M3 3h10v10h-10z",
    "circle": "M8 2.5a5.5 5.5 0 1 0 .01 0z",
    "triangle-up": "M8 2.5l6 11h-12z",
    "triangle-down": "M8 13.5l6 -11h-12z",
    "triangle-left": "M2.5 8l11 -6v12z",
    "triangle-right": "M13.5 8l-11 -6v12z",
    "diamond": "M8 1.5l6 6.5l-6 6.5l-6 -6.5z",
    "wedge": "M8 2l3.5 12h-7z",
    "cross": "M6 2h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
}


def mark(style: Style) -> str:
    """The marker of a scheme, as in the charts."""
    return f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{_MARKS[style.shape]}" fill="{style.color}"/></svg>'
