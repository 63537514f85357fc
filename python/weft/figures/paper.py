"""Files of figures: specifications in a paper's style, drawn by vl-convert as PDF, PNG, SVG and pixel formats.

Texts stay text. All have one font, which vl-convert contains, so that a figure is the same on every machine; with two
fonts, the order of a PDF's objects would differ from file to file.
"""

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..files import write_bytes
from ..markup import escape
from ..palette import Style
from .layers import Spec
from .options import FONT, Options, resized
from .style import HATCHES, config

FORMATS = ("pdf", "png", "svg", "jpg", "tif", "webp")
"""File types of figures."""
WIDTHS = {"column": 3.5, "text": 7.16}
"""Widths in inches of a column and of the text in two-column papers (IEEE)."""
COLORS = {"ink": "#1c242c", "soft": "#44505c", "grid": "#e3e8ec", "edge": "#66727e"}
_PER_INCH, _POINTS, _DOTS = 96, 72, 200
_TILE = 16 * _PER_INCH / _DOTS
"""Side of a pattern: whole dots, since there would be seams otherwise."""
_NARROWEST = 2.2
"""Width in inches below which panels continue in another row."""
_SHORTEST = 0.75
"""Height of a panel in a figure of given width, relative to others."""
_LETTER, _ENTRY = 6.2, 40
"""Width of a letter of the legend, and of an entry besides its text."""
_NOTE_LETTER = 3.4
"""Width of a letter of the notes below."""
_SIZE = re.compile(r'<svg([^>]*?) width="([\d.]+)" height="([\d.]+)" viewBox="[^"]*">')
_UNSEEN = re.compile(r'<(text|line)\b[^>]*\sopacity="0"[^>]*(?:/>|>[^<]*</\1>)')
_CLIP = re.compile(r'(?<=["#])clip\d+(?=[")])')
_ENTRIES = re.compile(rb"(?: {6}/\w+ \d+ 0 R\n){2,}")

Rows = Sequence[Mapping[str, Any]]


def save(svg: str, path: Path, formats: Sequence[str]) -> list[Path]:
    """Write a drawing in each format; the same drawing gives the same bytes.

    Raises `OutputError` if a file cannot be written, or the format is unknown.
    """
    written = []
    # One for all formats of pixels: to draw it takes longer than to write it.
    png = b"" if {*formats} <= {"svg", "pdf"} else _png(svg)
    for kind in formats:
        if kind not in FORMATS:
            raise OutputError(f"cannot write figures as `{kind}`: choose from {', '.join(FORMATS)}")
        target = path.parent / f"{path.name}.{kind}"
        write_bytes(target, _encoded(svg, png, kind))
        written.append(target)
    return written


def _png(svg: str) -> bytes:
    import vl_convert

    png: bytes = vl_convert.svg_to_png(svg, scale=_DOTS / _PER_INCH)
    return png


def _encoded(svg: str, png: bytes, kind: str) -> bytes:
    if kind == "svg":
        return svg.encode()
    if kind == "pdf":
        import vl_convert

        # A pixel becomes a point.
        pdf: bytes = vl_convert.svg_to_pdf(re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', svg, count=2))
        # The entries of a resource dictionary are in any order.
        return _ENTRIES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)
    if kind == "png":
        return png
    from PIL import Image

    file = io.BytesIO()
    kinds = {"jpg": "JPEG", "tif": "TIFF", "webp": "WEBP"}
    Image.open(io.BytesIO(png)).convert("RGB").save(file, kinds[kind], dpi=(_DOTS, _DOTS))
    return file.getvalue()


def write(
    spec: Spec, rows: Mapping[str, Rows], looks: Mapping[str, Style], path: Path, formats: Sequence[str]
) -> list[Path]:
    """Draw a specification and write it; see `drawn` and `save`."""
    return save(drawn(spec, rows, looks), path, formats)


def drawn(
    spec: Spec,
    rows: Mapping[str, Rows],
    looks: Mapping[str, Style],
    *,
    notes: Sequence[str] = (),
    width: float | None = None,
    options: Options | None = None,
) -> str:
    """The SVG of a specification from `layers`, with data sets, the styles of the legend's names, and lines below it.

    Its `width` is in inches; None: as wide as its panels need.
    """
    options = options or Options()
    spec, rows, looks = options.relabelled(spec, rows, looks)
    panels = spec["concat"] if "concat" in spec else [spec["spec"]]
    across = spec["columns"] if "columns" in spec else len(spec["facet"]["column"]["sort"])
    room = 0.0 if width is None else width * _PER_INCH
    if width is not None:
        across = max(1, min(across, int((width - 0.3) / _NARROWEST)))
        each = room / across - 70
        low = min(1.0, max(_SHORTEST, each / panels[0]["width"]))
        panels = [one | {"width": each, "height": round(one["height"] * low)} for one in panels]
    wide = room or across * (panels[0]["width"] + 70)
    for _ in range(3):
        svg = _svg(_finished(spec, panels, across, rows, looks, notes, wide, options))
        if not room or abs(room - _size(svg)[0]) < 0.5:
            break
        more = (room - _size(svg)[0]) / across
        panels = [one | {"width": max(20, one["width"] + more)} for one in panels]
    found, high = _size(svg)
    room = room or found
    # Labels may need more than the room, by tenths of a pixel or, with a large font, by more: all becomes smaller.
    part = min(1.0, room / found)
    attributes = (
        f'width="{room / _PER_INCH * _POINTS:g}pt" height="{high * part / _PER_INCH * _POINTS:g}pt" '
        f'viewBox="0 0 {max(room, found):g} {high:g}"'
    )
    return _SIZE.sub(rf"<svg\1 {attributes}>{_patterns(looks, svg)}", svg, count=1)


def _finished(
    spec: Spec,
    panels: Sequence[Spec],
    across: int,
    rows: Mapping[str, Rows],
    looks: Mapping[str, Style],
    notes: Sequence[str],
    wide: float,
    options: Options,
) -> Spec:
    """The specification with its panels, data and style, without the layers that only a page needs."""
    shown = [one | {"layer": [layer for layer in one["layer"] if not _of_page(layer)]} for one in panels]
    entries = max((len(name) for name in looks), default=1) * _LETTER * options.scale + _ENTRY
    more: dict[str, Any] = {
        "aria": False,
        "background": "white",
        "font": options.font,
        "padding": 4,
        "legend": {
            "orient": "top",
            "layout": {"top": {"anchor": "middle"}},
            "offset": 8,
            "columns": max(1, min(6, len(looks), int(wide / entries))),
            "labelFontSize": 11,
            "labelColor": COLORS["ink"],
            "labelLimit": wide - _ENTRY,
            "symbolSize": 110,
            "symbolStrokeWidth": 1.8,
        },
    }
    letters = max(20, int(wide / (_NOTE_LETTER * options.scale)))
    below = [part for note in notes for part in textwrap.wrap(note, letters)]
    bottom = {"text": below, "orient": "bottom", "fontSize": 7 * options.scale, "anchor": "start", "limit": wide}
    more["style"] = {"band": {"opacity": 0.2}}
    for side in ("header", "title"):
        more[side] = {"labelFontWeight" if side == "header" else "fontWeight": "normal"}
    colors = [look.color for look in looks.values()]
    hatched = [f"url(#hatch-{at})" if HATCHES[at % len(HATCHES)] else color for at, color in enumerate(colors)]
    tones = COLORS | {"category": colors, "hatched": hatched}
    return {
        **spec,
        **({"concat": shown} if "concat" in spec else {"spec": shown[0]}),
        **({"columns": across} if "columns" in spec else {}),
        **({"title": bottom} if notes else {}),
        "config": resized(config(tones, list(looks.values()), **more), options.scale),
        "datasets": {name: list(some) for name, some in rows.items()},
    }


def _of_page(layer: Spec) -> bool:
    """Whether a layer is seen under the pointer only."""
    return isinstance(layer["mark"], dict) and layer["mark"].get("style") in ("tips", "pointed")


def _svg(spec: Spec) -> str:
    import vl_convert

    svg: str = _UNSEEN.sub("", vl_convert.vegalite_to_svg(spec))
    # Vega numbers the clip paths of all drawings of a process.
    ids: dict[str, str] = {}
    return _CLIP.sub(lambda found: ids.setdefault(found[0], f"clip{len(ids)}"), svg)


def _size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    assert found is not None, svg[:200]
    return float(found[2]), float(found[3])


def _patterns(looks: Mapping[str, Style], svg: str) -> str:
    """The patterns of bars, if there are any."""
    if "url(#hatch-" not in svg:
        return ""
    size = f'patternUnits="userSpaceOnUse" width="{_TILE:g}" height="{_TILE:g}" viewBox="0 0 6 6"'
    parts = "".join(
        f'<pattern id="hatch-{at}" {size}><rect width="6" height="6" fill="{look.color}"/>'
        f'<path d="{HATCHES[at % len(HATCHES)]}" stroke="white" fill="none"/></pattern>'
        for at, look in enumerate(looks.values())
    )
    return f"<defs>{parts}</defs>"


def side_by_side(panels: Mapping[str, str], below: str, *, width: float | None, font: str = FONT) -> str:
    """Drawings (SVG elements with a `viewBox`) by title, at most three in a row, and a last row of height 40.

    `below` is the last row for a width of 480; `width` is in inches, by default 3.4 for each column.
    """
    columns = min(len(panels), 3)
    across = columns if width is None else max(1, min(columns, int((width - 0.3) / _NARROWEST)))
    room = (3.4 * across if width is None else width) * _PER_INCH
    each, top, parts = room / across, 0.0, []
    for at, (title, svg) in enumerate(panels.items()):
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        assert size is not None
        high = each * float(size[2]) / float(size[1])
        left = at % across * each
        parts.append(
            f'<text x="{left + each / 2:g}" y="{top + 14:g}" text-anchor="middle" font-size="13">{escape(title)}</text>'
            + svg.replace("<svg ", f'<svg x="{left:g}" y="{top + 20:g}" width="{each:g}" height="{high:g}" ', 1)
        )
        if at % across == across - 1 or at == len(panels) - 1:
            top += high + 24
    scale = min(1.0, room / 480)
    parts.append(f'<g transform="translate({(room - 480 * scale) / 2:g},{top:g}) scale({scale:g})">{below}</g>')
    high = top + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{room / _PER_INCH * _POINTS:g}pt" '
        f'height="{high / _PER_INCH * _POINTS:g}pt" viewBox="0 0 {room:g} {high:g}" font-family="{font}" '
        f'fill="{COLORS["ink"]}"><rect width="{room:g}" height="{high:g}" fill="white"/>{"".join(parts)}</svg>'
    )
