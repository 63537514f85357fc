"""The fabric as SVG: tiers as rows, each link as two lines, one per direction, coloured by utilisation.

The colour is a CSS class (`u0` idle … `u20` full): the report's script switches schemes by changing classes only, and
the drawing also works without scripts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from . import quantity
from .graph import Graph, Link, Node, tier_name
from .markup import escape
from .palette import DIFFERENCE, DIFFERENCE_DARK, UTILISATION, UTILISATION_DARK

STEPS = 20
"""Steps of the colour scale from idle to full."""
WIDTH = 1120
HOSTS_DRAWN = 160
"""Maximum number of hosts drawn: more would be a grey band, so only switches are drawn."""
DENSE = 1000
"""With more links than this, idle links are drawn faintly so as not to hide busy ones."""
FULL = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Utilisations at the end of a colour scale."""
_LETTER = 6.2
"""Width of a letter of 10 pixels."""
_LINE, _FONTS = 10.0, (11, 7)
"""Width of a name that is written upwards, and the largest and smallest size of the names of switches."""
_THICK, _NAMELESS = 2.0, ".fabric text{display:none}.fabric .switch{fill:#4b5763}"


class Place(NamedTuple):
    """A point of a drawing."""

    x: float
    y: float


class Frame(NamedTuple):
    """The margins of a drawing, and its height between them: `row` per pair of rows, `plain` without rows."""

    left: float
    right: float
    top: float
    row: int
    plain: int
    labels: float
    """Additional left margin for the labels of rows."""


_FRAME = Frame(left=46, right=46, top=34, row=118, plain=560, labels=70)


def step(utilisation: float) -> int:
    """The colour step of a utilisation (0..1)."""
    return round(min(max(utilisation, 0.0), 1.0) * STEPS)


def full(utilisations: Iterable[float]) -> float:
    """The utilisation at the end of a colour scale for these: where all are low, they do not all look idle."""
    most = max(utilisations, default=1.0)
    return next((one for one in FULL if most <= one), FULL[-1])


def style_sheet(thick: float = 1.0) -> str:
    """CSS for the classes that drawings use; lines are `thick` times as wide."""
    rules = [
        ".fabric{display:block;width:100%;height:auto;font:11px system-ui,sans-serif}",
        ".fabric .l{fill:none;stroke-linecap:round;stroke:#b9c3cc;stroke-width:1.2}",
        ".fabric .l:hover{stroke:#0b6bcb;stroke-width:5}",
        ".fabric .down{stroke:#b9c3cc;stroke-dasharray:3 4;stroke-width:1}",
        ".fabric .switch{fill:#fff;stroke:#4b5763;stroke-width:1.2}",
        ".fabric .host{fill:#4b5763}",
        ".fabric text{fill:#25303b;text-anchor:middle}.fabric .small{fill:#66727e;font-size:10px}",
        ".fabric .tier{text-anchor:start;fill:#66727e;font-size:11px}",
    ]
    for i in range(STEPS + 1):
        rules.append(f".fabric.dense .u{i}{{stroke-opacity:{0.1 + 0.9 * (i / STEPS) ** 0.5:.2f}}}")
        rules.append(f".fabric .u{i}{{stroke:{shade(i / STEPS)};stroke-width:{thick * (1.2 + 2.8 * i / STEPS):.2f}}}")
    return "\n".join(rules)


def themed_style_sheet() -> str:
    """CSS for the same classes on a page with a light and a dark mode, and for differences (`d0` ... `d20`)."""
    rules = []
    for i in range(STEPS + 1):
        at, far = i / STEPS, abs(i / STEPS - 0.5) * 2
        use = f"light-dark({shade(at)},{shade(at, UTILISATION_DARK)})"
        change = f"light-dark({shade(at, DIFFERENCE)},{shade(at, DIFFERENCE_DARK)})"
        rules.append(f":root .fabric .u{i}{{stroke:{use}}}")
        rules.append(f":root .fabric .d{i}{{stroke:{change};stroke-width:{1.2 + 2.8 * far:.2f}}}")
        rules.append(f".fabric.dense .d{i}{{stroke-opacity:{0.1 + 0.9 * far**0.5:.2f}}}")
    return "\n".join(rules)


def scale(colors: Sequence[str], dark: Sequence[str]) -> str:
    """A colour scale as a CSS gradient."""
    stops = (f"light-dark({shade(i / 10, colors)},{shade(i / 10, dark)})" for i in range(11))
    return f"linear-gradient(90deg,{','.join(stops)})"


def shade(utilisation: float, colors: Sequence[str] = UTILISATION) -> str:
    """The colour (CSS hex) of a utilisation (0..1), interpolated along a palette."""
    position = utilisation * (len(colors) - 1)
    lower = min(int(position), len(colors) - 2)
    part = position - lower
    low, high = ([int(colors[i][at : at + 2], 16) for at in (1, 3, 5)] for i in (lower, lower + 1))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high, strict=True))


def draws_hosts(fabric: Graph) -> bool:
    """Whether hosts are drawn."""
    return len(fabric.hosts) <= HOSTS_DRAWN or not fabric.switches


def drawn_links(fabric: Graph) -> list[int]:
    """Indices of the drawn links, in drawing order."""
    if draws_hosts(fabric):
        return list(range(len(fabric.links)))
    switches = {node.name for node in fabric.switches}
    return [i for i, link in enumerate(fabric.links) if link.source in switches and link.target in switches]


def draw(
    fabric: Graph, utilisation: Sequence[float | None] | None = None, *, small: bool = False, end: float = 1.0
) -> str:
    """The drawing as one SVG element with its own style sheet; higher tiers are on top.

    `utilisation` is the used share of each link's rate, in the order of `fabric.links`, and `end` the one at the end of
    the colour scale; None draws all links alike. A `small` drawing, a third as wide, has thicker lines and no names.
    """
    nodes = fabric.nodes if draws_hosts(fabric) else fabric.switches
    places, inner, tiered = laid_out(fabric, nodes, WIDTH, _FRAME)
    hosts = sorted((node for node in nodes if node.is_host), key=lambda node: places[node.name].x)
    host_gap = gap(places[node.name] for node in hosts)
    names = _host_names(hosts, host_gap, tiered=tiered)
    height = inner + 2 * _FRAME.top + names.below
    kind = "fabric dense" if len(drawn_links(fabric)) > DENSE else "fabric"
    parts = [
        f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{escape(fabric.name)}">',
        f"<style>{style_sheet(_THICK) + _NAMELESS if small else style_sheet()}</style>",
        *(f'<text class="tier" x="8" y="{y + 4:.1f}">{escape(name)}</text>' for y, name in named_rows(nodes, places)),
        '<g class="links">',
    ]
    for index in drawn_links(fabric):
        link = fabric.links[index]
        parts.append(_line(link, places, None if utilisation is None else utilisation[index], end))
    parts.append('</g><g class="nodes">')
    radius = max(3.0, min(19.0, gap(places[node.name] for node in nodes if not node.is_host) * 0.42))
    longest = max((len(node.name) for node in nodes if not node.is_host), default=1)
    font = min(_FONTS[0], int(2 * radius / (0.62 * longest)))
    parts += [_switch(node.name, places[node.name], radius, font) for node in nodes if not node.is_host]
    parts += [_host(node.name, places[node.name], names, at) for at, node in enumerate(hosts)]
    parts.append("</g></svg>")
    return "\n".join(parts)


def laid_out(fabric: Graph, nodes: Sequence[Node], width: float, frame: Frame) -> tuple[dict[str, Place], int, bool]:
    """The places of nodes, higher tiers on top; the height without margins; whether the drawing has rows."""
    points = fabric.places()
    xs, ys = ([points[node.name][axis] for node in nodes] or [0.0] for axis in (0, 1))
    span_x, span_y = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    rows = len({round(y, 6) for y in ys})
    tiered = rows <= 6
    inner = frame.row * max(rows - 1, 1) if tiered else frame.plain
    left = frame.left + (frame.labels if tiered else 0)
    places = {}
    for node, x, y in zip(nodes, xs, ys, strict=False):
        across = (x - min(xs)) / span_x if max(xs) > min(xs) else 0.5
        places[node.name] = Place(
            left + across * (width - frame.right - left), frame.top + (max(ys) - y) / span_y * inner
        )
    return places, inner, tiered


def named_rows(nodes: Sequence[Node], places: Mapping[str, Place]) -> list[tuple[float, str]]:
    """The height and name of each row, if each tier is one row."""
    rows: dict[int, set[float]] = {}
    for node in nodes:
        rows.setdefault(node.row, set()).add(round(places[node.name].y, 1))
    if len(rows) < 2 or any(len(ys) > 1 for ys in rows.values()):
        return []
    return [(min(ys), tier_name(tier, max(rows))) for tier, ys in rows.items()]


class _Names(NamedTuple):
    """The names below hosts."""

    every: int
    """Each so many hosts have one, from the left; 0: none."""
    upright: bool
    """Whether they are written upwards."""
    below: float
    """Height that they need besides the margin."""


def _host_names(hosts: Sequence[Node], distance: float, *, tiered: bool) -> _Names:
    """All names in one line if they fit; else upwards, as many as fit."""
    longest = max((len(node.name) for node in hosts), default=0) * _LETTER
    if longest + 4 <= distance or not tiered:
        return _Names(int(longest + 4 <= distance), upright=False, below=0)
    return _Names(math.ceil(_LINE / distance), upright=True, below=max(0.0, longest + 10 - _FRAME.top))


def _line(link: Link, places: Mapping[str, Place], utilisation: float | None, end: float) -> str:
    a, b = places[link.source], places[link.target]
    length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
    # Each direction is shifted to its right, so that the two lines of a link never overlap.
    dx, dy = -(b.y - a.y) / length * 2.0, (b.x - a.x) / length * 2.0
    kind = "l down" if not link.up else "l" if utilisation is None else f"l u{step(utilisation / end)}"
    return (
        f'<line class="{kind}" x1="{a.x + dx:.1f}" y1="{a.y + dy:.1f}" x2="{b.x + dx:.1f}" y2="{b.y + dy:.1f}">'
        f"<title>{escape(title(link, utilisation))}</title></line>"
    )


def title(link: Link, utilisation: float | None) -> str:
    """The tooltip of a link."""
    text = f"{link.source} → {link.target}: {quantity.rate(link.rate_bps)}, {quantity.seconds(link.delay_ps / 1e12)}"
    if not link.up:
        return f"{text}, down"
    return text if utilisation is None else f"{text}, {quantity.percent(utilisation)} used"


def gap(places: Iterable[Place], default: float = 60.0) -> float:
    """The smallest horizontal distance between neighbours in a row."""
    rows: dict[float, list[float]] = {}
    for place in places:
        rows.setdefault(round(place.y, 1), []).append(place.x)
    return min((b - a for xs in rows.values() for a, b in pairwise(sorted(xs)) if b > a), default=default)


def _host(name: str, place: Place, names: _Names, at: int) -> str:
    label = escape(name)
    dot = f'<circle class="host" cx="{place.x:.1f}" cy="{place.y:.1f}" r="4"><title>{label}</title></circle>'
    if not names.every or at % names.every:
        return dot
    if not names.upright:
        return f'{dot}<text class="small" x="{place.x:.1f}" y="{place.y + 18:.1f}">{label}</text>'
    x, y = place.x + 3.5, place.y + 8
    return (
        f'{dot}<text class="small" style="text-anchor:end" transform="translate({x:.1f},{y:.1f}) rotate(-90)">{label}'
        "</text>"
    )


def _switch(label: str, place: Place, radius: float, font: int) -> str:
    shown = escape(label)
    text = f'<text x="{place.x:.1f}" y="{place.y + 0.36 * font:.1f}" style="font-size:{font}px">{shown}</text>'
    return (
        f'<rect class="switch" x="{place.x - radius:.1f}" y="{place.y - 11:.1f}" width="{2 * radius:.1f}" height="22" '
        f'rx="5"><title>{shown}</title></rect>{text if font >= _FONTS[1] else ""}'
    )
