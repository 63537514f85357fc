"""Critical-difference diagrams: schemes at their mean rank, with a bar below those that cannot be told apart.

The form is Demšar's (Journal of Machine Learning Research 7, 2006). A group with gaps (a scheme between two of its
members that differs from one of them) has a dot at each member. The page and files have the same drawing: the page's
style sheet replaces its colours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..content import Content
from ..markup import escape
from ..metrics import Metric
from ..palette import Style, styles
from ..scheme_ranks import Ranking
from . import paper
from .options import Options

_AXIS, _ROW, _LANE = 30, 20, 9
"""Height of the axis, and distances of names and of bars, in pixels."""
_LETTER, _LONGEST, _RANK = 6.4, 26, 34
"""Width of a letter, letters of a name that are shown, and width of a rank beside it."""
_ACROSS = 190
"""Width of the axis."""


@dataclass(frozen=True)
class _Bar:
    """A group of schemes that cannot be told apart, and its place below the axis."""

    members: Sequence[str]
    lane: int


def _bars(ranking: Ranking) -> list[_Bar]:
    """The groups of two schemes or more, each in the first lane that is free there."""
    ranks = ranking.contest.ranks
    ends: list[float] = []
    found: list[_Bar] = []
    for members in ranking.groups:
        if len(members) < 2:
            continue
        low, high = ranks[members[0]], ranks[members[-1]]
        lane = next((at for at, end in enumerate(ends) if end < low), len(ends))
        ends[lane : lane + 1] = [high]
        found.append(_Bar(members, lane))
    return found


@dataclass(frozen=True)
class Diagram:
    """A drawing, and its width in pixels at which texts have their size."""

    svg: str
    width: float


def diagram(ranking: Ranking, looks: Mapping[str, Style], label: Callable[[str], str] = str) -> Diagram:
    """A ranking, with the styles of its schemes and their labels."""
    ranks, schemes, bars = ranking.contest.ranks, ranking.schemes, _bars(ranking)
    name = max(min(len(label(scheme)), _LONGEST) for scheme in schemes) * _LETTER
    left = name + _RANK + 16
    width = 2 * left + _ACROSS
    last = len(schemes)
    x = {scheme: left + (rank - 1) / (last - 1) * _ACROSS for scheme, rank in ranks.items()}
    top = _AXIS + 12 + _LANE * (1 + max((bar.lane for bar in bars), default=-1)) + 6
    half = (last + 1) // 2
    parts = [
        f'<line class="edge" x1="{left:g}" y1="{_AXIS}" x2="{left + _ACROSS:g}" y2="{_AXIS}" stroke="{_EDGE}"/>',
        *(_tick(left + at / (last - 1) * _ACROSS, at + 1) for at in range(last)),
    ]
    for at, scheme in enumerate(schemes):
        own = at < half
        y = top + _ROW * (at if own else last - 1 - at)
        parts.append(
            _stem(label(scheme), ranks[scheme], x[scheme], y, left - 8 if own else left + _ACROSS + 8, own=own)
        )
    parts += [_drawn(bar, schemes, x) for bar in bars]
    parts += [_dot(x[scheme], looks[scheme]) for scheme in schemes]
    high = top + _ROW * (half - 1) + 10
    svg = (
        f'<svg class="ranks" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {high:g}" '
        f'role="img" aria-label="{escape(_spoken(ranking))}" font-size="12">{"".join(parts)}</svg>'
    )
    return Diagram(svg, width)


_EDGE, _INK, _SOFT = (paper.COLORS[name] for name in ("edge", "ink", "soft"))


def _spoken(ranking: Ranking) -> str:
    """The diagram in words."""
    letters = ranking.letters
    ranks = ", ".join(f"{name} {rank:.2f} ({letters[name]})" for name, rank in ranking.contest.ranks.items())
    return f"Mean ranks by {ranking.metric.title}: {ranks}. Schemes with a common letter cannot be told apart."


def _tick(x: float, number: int) -> str:
    return (
        f'<line class="edge" x1="{x:g}" y1="{_AXIS - 5}" x2="{x:g}" y2="{_AXIS}" stroke="{_EDGE}"/>'
        f'<text class="soft" x="{x:g}" y="{_AXIS - 9}" text-anchor="middle" font-size="11" fill="{_SOFT}">'
        f"{number}</text>"
    )


def _stem(scheme: str, rank: float, x: float, y: float, end: float, *, own: bool) -> str:
    """The line from a scheme's rank to its name, which is on the left if it is its `own` half that is there."""
    shown = scheme if len(scheme) <= _LONGEST else f"{scheme[: _LONGEST - 1]}…"
    name = f'<tspan data-name="{escape(scheme)}" data-longest="{_LONGEST}">{escape(shown)}</tspan>'
    number = f'<tspan class="soft" font-size="11" fill="{_SOFT}">{rank:.2f}</tspan>'
    text = f"{name} {number}" if own else f"{number} {name}"
    anchor, at = ("end", end - 4) if own else ("start", end + 4)
    return (
        f'<path class="edge" d="M{x:.1f} {_AXIS}V{y:g}H{end:g}" fill="none" stroke="{_EDGE}"/>'
        f'<text x="{at:g}" y="{y + 4:g}" text-anchor="{anchor}" fill="{_INK}"><title>{escape(scheme)}</title>'
        f"{text}</text>"
    )


def _drawn(bar: _Bar, schemes: Sequence[str], x: Mapping[str, float]) -> str:
    y = _AXIS + 12 + _LANE * bar.lane
    first, last = (schemes.index(bar.members[at]) for at in (0, -1))
    whole = last - first + 1 == len(bar.members)
    line = (
        f'<line class="bar-of-equals" x1="{x[bar.members[0]] - 4:.1f}" y1="{y}" x2="{x[bar.members[-1]] + 4:.1f}" '
        f'y2="{y}" stroke="{_INK}" stroke-width="{4 if whole else 1.5}"/>'
    )
    dots = () if whole else bar.members
    return line + "".join(
        f'<circle class="of-equals" cx="{x[name]:.1f}" cy="{y}" r="3" fill="{_INK}"/>' for name in dots
    )


def _dot(x: float, look: Style) -> str:
    return (
        f'<circle class="of-scheme" cx="{x:.1f}" cy="{_AXIS}" r="4.5" fill="{look.color}" '
        f'style="--light:{look.color};--dark:{look.dark}"/>'
    )


def by_class(content: Content, metric: Metric, label: Callable[[str], str] = str) -> dict[str, Diagram]:
    """The diagrams of a metric by class; empty if the schemes cannot be ranked."""
    looks = styles(content.schemes)
    rankings = () if content.ranks is None else content.ranks.rankings
    found = [one for one in rankings if one.metric == metric and len(one.schemes) > 1]
    return {label(str(one.group["class"])): diagram(one, looks, label) for one in found}


def draw(content: Content, metric: Metric, *, width: float | None = None, options: Options | None = None) -> str:
    """The diagrams of a metric as one SVG."""
    options = options or Options()
    panels = {name: found.svg for name, found in by_class(content, metric, options.label).items()}
    lines = (
        f"mean rank by {metric.title}, 1 is the best; a bar joins schemes",
        "that cannot be told apart at 5 % (paired t test over seeds, Holm)",
    )
    below = "".join(
        f'<text x="240" y="{14 + 13 * at}" font-size="10" text-anchor="middle">{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    return paper.side_by_side(panels, below, width=width, font=options.font)
