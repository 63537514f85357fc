"""The page of a flow's time line: self-contained, with a policy that forbids all connections."""

from collections.abc import Sequence

from .. import __version__, quantity
from ..cause_style import CAUSES, style_sheet
from ..labels import plural
from ..markup import data_block, escape, link, packed, packed_block
from ..reporting.parts import asset, document
from .course import MOST_PACKETS, Course

_SCRIPTS = ("marks.js", "lanes.js", "timeline.js")
"""The page's scripts; each uses only those before it."""
_PACKETS = (
    ("data", "■", "data sent, until it arrives"),
    ("repeated", "■", "data repeated"),
    ("marked", "▲", "marked by a queue (ECN)"),
    ("lost", "×", "lost"),
    ("answer", "○", "acknowledgement"),
    ("handshake", "□", "handshake, or without data"),
)
"""Kind, mark and text; `packet` in ``lanes.js`` draws the same marks."""
_LINES = (("window", "—", "congestion window"), ("flight", "╌", "in flight"))


def render(courses: Sequence[Course], *, name: str, note: str = "", animation: str | None = None) -> str:
    """The page as HTML text; see `weft.timeline.write`."""
    first = courses[0].data
    title = f"Flow {first['flow']}: {first['src']} → {first['dst']}"
    failed = "(error) => { console.error(error); document.documentElement.dataset.ready = 'failed'; }"
    files = [asset("units.js"), *(asset(file, __package__) for file in _SCRIPTS), asset("sideways.js")]
    script = "\n".join(['"use strict";(async () => {', *files, f"}})().catch({failed});"])
    return document(
        title,
        asset("timeline.css", __package__) + style_sheet(),
        [script],
        [
            "<noscript>This page draws with JavaScript.</noscript>",
            _header(courses, title, name, note, animation),
            f'<main id="main">{_lanes(courses)}{_causes()}</main>',
            f"<footer><div>Made by Weft {escape(__version__)}. This page works offline.</div></footer>",
            data_block("causes", list(CAUSES)),
            packed_block("courses", packed([course.shown(len(courses)) for course in courses])),
        ],
        root=' data-theme="auto"',
    )


def _header(courses: Sequence[Course], title: str, name: str, note: str, animation: str | None) -> str:
    data = courses[0].data
    what = [name, f"seed {courses[0].seed}", quantity.size(data["bytes"]), data["class"]]
    what.append(f"ports {data['sport']} to {data['dport']}")
    remarks = [note] if note else []
    if any(len(course.packets) > MOST_PACKETS // len(courses) for course in courses):
        remarks.append(
            f"To keep the page small, it shows {quantity.count(MOST_PACKETS // len(courses))} packets of each run, "
            "evenly spread; losses, marks and repetitions come first. The counts are of all packets."
        )
    rows = "".join(
        f"<tr><th>{escape(course.label)}</th><td>{escape(_time(course))}</td><td>{escape(_counted(course))}</td></tr>"
        for course in courses
    )
    warnings = "".join(f"<p>{escape(text)}</p>" for text in remarks)
    return (
        f'<header class="top"><div><h1>{escape(title)}</h1><div class="meta">{escape(" · ".join(what))}</div>'
        + (f"<p>{link(animation, 'Animation: how this flow finds its path')}</p>" if animation else "")
        + f'<table class="props">{rows}</table>'
        + (f'<div class="warn">{warnings}</div>' if warnings else "")
    ) + "</div></header>"


def _time(course: Course) -> str:
    """The completion time and the slowdown."""
    data = course.data
    if data["fct_ps"] is None:
        return f"unfinished after {quantity.seconds(course.end / 1e12)}"
    ideal = data["ideal_fct_ps"]
    slowdown = f", slowdown {quantity.digits(data['fct_ps'] / ideal)}" if ideal else ""
    return f"{quantity.seconds(data['fct_ps'] / 1e12)}{slowdown}"


def _counted(course: Course) -> str:
    counts = course.counts()
    texts = [plural(counts["packets"], "packet")]
    texts += [f"{counts[name]:,} {name}" for name in ("lost", "repeated", "marked") if counts[name]]
    return ", ".join(texts + ([plural(counts["timeouts"], "timeout")] if counts["timeouts"] else []))


def _lanes(courses: Sequence[Course]) -> str:
    schemes = "".join(
        f'<button type="button" data-course="{at}" aria-pressed="{"false" if at else "true"}">'
        f"{escape(course.label)}</button>"
        for at, course in enumerate(courses)
    )
    tabs = f'<div class="tabs" role="group" aria-label="Scheme">{schemes}</div>' if len(courses) > 1 else ""
    buttons = "".join(
        f'<button type="button" class="copy" id="{ident}">{text}</button>'
        for ident, text in (("closer", "Zoom in"), ("wider", "Zoom out"), ("whole", "Whole flow"), ("theme", "Dark"))
    )
    legend = "".join(
        f'<span data-kind="{kind}"><i class="of-{kind}" aria-hidden="true">{mark}</i>{text}</span>'
        for kind, mark, text in (*_PACKETS, *_LINES)
    )
    return (
        f'<section aria-label="Time line"><div class="head">{tabs}<label id="of-subflow" hidden>subflow '
        f'<select id="subflow"></select></label><div class="controls">{buttons}</div></div>'
        '<div id="lanes" tabindex="0" role="img" aria-label="Time line of the flow"></div>'
        f'<div class="marks" id="legend">{legend}</div>'
        '<p class="caption">Drag over a time to zoom in. Double-click: whole flow. '
        "Keys: + and −, ← and →, 0 for the whole flow. Shaded: loss recovery and timeouts.</p>"
        '<div id="tip" hidden></div></section>'
    )


def _causes() -> str:
    return (
        '<section aria-labelledby="causes-title"><h2 id="causes-title">Where the time went</h2>'
        '<p class="caption">The causes along the chain of packets that led to the last byte, and the links to which '
        "they are due. They add up to the flow's time.</p>"
        '<div class="scroll"><table class="data" id="sums"></table></div></section>'
    )
