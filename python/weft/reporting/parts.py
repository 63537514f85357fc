"""HTML building blocks of the sections."""

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from ..markup import escape
from ..palette import Style


def asset(name: str, package: str = __package__) -> str:
    """A style sheet or script of a package's page, by default the report's."""
    return resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")


def document(
    title: str, sheet: str, scripts: Sequence[str], body: Sequence[str], *, root: str = "", evaluates: bool = False
) -> str:
    """A self-contained page with its style `sheet` and `scripts`; `root` has further attributes of its root element."""
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"{root}><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_policy(scripts, evaluates=evaluates))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
            f"<title>{escape(title)} – Weft</title>",
            f"<style>{asset('page.css')}{sheet}</style></head><body>",
            *body,
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


def _policy(scripts: Sequence[str], *, evaluates: bool) -> str:
    """A content security policy that forbids all connections and all scripts but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = [*(["'unsafe-eval'"] if evaluates else []), *(f"'sha256-{digest}'" for digest in digests)]
    return (
        "default-src 'none'; img-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; "
        f"style-src 'unsafe-inline'; script-src {' '.join(allowed)}"
    )


def scripts(*names: str) -> str:
    """Scripts of the report as one, in a scope of its own; each file may use those before it."""
    failed = "(error) => { console.error(error); document.documentElement.dataset.ready = 'failed'; }"
    return "\n".join(['"use strict";(async () => {', *(asset(name) for name in names), f"}})().catch({failed});"])


def named(name: str, shown: str = "") -> str:
    """A name of a scheme or class, in whose place the page's script puts the reader's label."""
    return f'<span data-name="{escape(name)}">{escape(shown or name)}</span>'


def chart(ident: str, label: str) -> str:
    """The container of a chart, with buttons for its drawing, its data, and a table as an alternative."""
    return (
        f'<div class="chart" id="{ident}" role="img" aria-label="{escape(label)}; its data: button Table"></div>'
        + tools(ident, label)
    )


def tools(ident: str, label: str) -> str:
    """Buttons that save a figure as SVG and CSV and show its data as a table."""
    what = escape(label)
    return (
        f'<div class="tools" role="group" aria-label="{what}: save or read"><button type="button" data-svg="{ident}" '
        f'aria-label="Save {what} as SVG">SVG</button><button type="button" data-csv="{ident}" '
        f'aria-label="Save the data of {what} as CSV">CSV</button><button type="button" data-rows="{ident}" '
        f'aria-expanded="false" aria-label="Table of {what}">Table</button></div>'
        f'<div class="rows" id="{ident}-rows" hidden></div>'
    )


def tabs(sets: str, choices: Sequence[tuple[str, str]], label: str = "") -> str:
    """A segmented control; `sets` is the setting that the script changes with it. Empty if there is only one choice."""
    if len(choices) < 2:
        return ""
    buttons = "".join(
        f'<button type="button" value="{escape(value)}" aria-pressed="{"true" if i == 0 else "false"}">'
        f"{named(value, text) if value == text else escape(text)}</button>"
        for i, (value, text) in enumerate(choices)
    )
    spoken = f' aria-label="{escape(label)}"' if label else ""
    return f'<div class="tabs" role="group"{spoken} data-sets="{sets}">{buttons}</div>'


def toggle(name: str, text: str, *, pressed: bool = False, title: str = "") -> str:
    """A button that switches something on and off."""
    hint = f' title="{escape(title)}"' if title else ""
    state = f'aria-pressed="{"true" if pressed else "false"}"'
    return f'<button type="button" class="toggle" data-toggle="{name}" {state}{hint}>{escape(text)}</button>'


def choice(ident: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    """A labelled list to choose from: values with their texts."""
    items = "".join(
        f'<option value="{escape(value)}"'
        + (f' data-name="{escape(value)}"' if value == text else "")
        + f">{escape(text)}</option>"
        for value, text in options
    )
    return f'<label>{escape(label)} <select id="{ident}">{items}</select></label>'


def section(title: str, caption: str, body: str, ident: str, *, controls: str = "") -> str:
    """A section with heading, caption and, to the right of the heading, controls."""
    side = f'<div class="controls">{controls}</div>' if controls else ""
    return (
        f'<section id="{ident}" aria-labelledby="{ident}-title"><div class="head"><h2 id="{ident}-title" tabindex="-1">'
        f'{escape(title)}</h2>{side}</div><p class="caption">{caption}</p>{body}</section>'
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
    return (
        f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true"><path d="{_MARKS[style.shape]}" '
        f'fill="{style.color}" style="--light:{style.color};--dark:{style.dark}"/></svg>'
    )
