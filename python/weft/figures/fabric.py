"""The fabric with its link utilisation, one drawing for each scheme: the page's drawing, in files."""

import polars as pl

from .. import drawing, extracts, quantity, run_ends
from ..content import Content
from . import paper
from .options import Options


def draw(content: Content, point: str, *, width: float | None = None, options: Options | None = None) -> str:
    """The drawings of all schemes at a point as one SVG, with their colour scale."""
    use = extracts.link_use(content.results).filter(pl.col("point") == point)
    options = options or Options()
    end = drawing.full(use["utilisation"].drop_nulls())
    panels = {}
    for scheme, name in content.labels(point).items():
        part = use.filter(pl.col("scheme") == scheme)
        share = {(a, b): used for a, b, used in part.select("from", "to", "utilisation").iter_rows()}
        panels[options.label(name)] = drawing.draw(
            content.fabric,
            [share.get((link.source, link.target)) or 0.0 for link in content.fabric.links],
            small=True,
            end=end,
        )
    scale = _scale(end, run_ends.early(content.results).get(point))
    return paper.side_by_side(panels, scale, width=width, font=options.font)


_STOPS = "".join(f'<stop offset="{at / 10}" stop-color="{drawing.shade(at / 10)}"/>' for at in range(11))


def _scale(end: float, last: int | None) -> str:
    """The colour scale, up to a utilisation; `last` is the last run's end in ps if it is over the time until then."""
    over = (
        "in the measurement window" if last is None else f"until the last run ended ({quantity.seconds(last / 1e12)})"
    )
    ticks = "".join(
        f'<text x="{20 + 88 * at}" y="33" font-size="9" text-anchor="middle">{100 * end * at / 5:g} %</text>'
        for at in range(6)
    )
    return (
        f'<defs><linearGradient id="scale">{_STOPS}</linearGradient></defs>'
        f'<text x="240" y="10" font-size="10" text-anchor="middle">link utilisation {over}</text>'
        f'<rect x="20" y="14" width="440" height="8" fill="url(#scale)"/>{ticks}'
    )
