"""Tables and texts for notebooks: HTML whose styles are its own and suit light and dark pages."""

from collections.abc import Iterable, Sequence

from .markup import escape

_CELL = "vertical-align:top;padding:2px 8px"
_LEFT = f"text-align:left;{_CELL}"
_RIGHT = f"text-align:right;white-space:nowrap;{_CELL}"
_COLOURS = {"good": "#2a9d5c", "bad": "#d1495b"}


def dim(text: str) -> str:
    """A text that is less important than others."""
    return f'<span style="opacity:0.65">{escape(text)}</span>'


def judged(text: str, verdict: str) -> str:
    """A difference, in the colour of its verdict (``good``, ``bad`` or empty)."""
    colour = _COLOURS.get(verdict)
    return f'<span style="color:{colour}">{escape(text)}</span>' if colour else dim(text)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """A table of cells that are HTML already; the first `texts` columns are texts, the others numbers."""
    styles = [_LEFT if at < texts else _RIGHT for at in range(len(heads))]
    titles = [escape(text).replace(" per", "<br>per") for text in heads]
    head = "".join(f'<th style="{style}">{text}</th>' for style, text in zip(styles, titles, strict=True))
    body = "".join(
        "<tr>" + "".join(f'<td style="{s}">{cell}</td>' for s, cell in zip(styles, row, strict=True)) + "</tr>"
        for row in rows
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{whole}</div>'


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title above named values; empty ones are left out."""
    body = "".join(
        f'<tr><th style="{_LEFT}">{escape(name)}</th><td style="{_LEFT}">{escape(value)}</td></tr>'
        for name, value in rows
        if value
    )
    return f"<div><b>{escape(title)}</b><table><tbody>{body}</tbody></table></div>"


def notes(lines: Iterable[str]) -> str:
    """Small lines below a table."""
    return "".join(f'<div style="font-size:smaller">{dim(line)}</div>' for line in lines)
