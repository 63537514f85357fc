"""The animated page of an exploration: self-contained, with a policy that forbids all connections."""

from .. import __version__, quantity
from ..labels import plural
from ..markup import data_block, escape, link
from ..reporting.parts import asset, document
from .stage import stage
from .story import Story, time
from .trace import Scene, Trace


def render(trace: Trace, time_line: str | None = None) -> str:
    """The page as HTML text, with a link to the file `time_line` beside it."""
    source, target = trace.ends
    data = {
        "stage": stage(trace.fabric, trace.ends),
        "links": _links(trace),
        "from": trace.flow["from"],
        "to": trace.flow["to"],
        "scenes": [
            scene.data
            | {"lines": Story(trace, scene).lines(), "facts": facts(trace, scene), "under_way": scene.is_under_way}
            for scene in trace.scenes
        ],
    }
    return document(
        f"{source} → {target}",
        asset("explore.css", __package__),
        [asset("explore.js", __package__)],
        [
            "<noscript>This page draws with JavaScript.</noscript>",
            _header(trace, time_line),
            f"<main>{_player(trace)}</main>",
            f"<footer><main>Made by Weft {escape(__version__)}. This page works offline.</main></footer>",
            data_block("trace", data),
        ],
    )


def _links(trace: Trace) -> list[list[int]]:
    numbers = {node.name: number for number, node in enumerate(trace.fabric.nodes)}
    return [[numbers[link.source], numbers[link.target]] for link in trace.fabric.links]


def facts(trace: Trace, scene: Scene) -> list[tuple[str, str]]:
    """The key figures of a scene, as pairs of name and value."""
    rows = [("begins at", f"{scene.data['begin_ps'] / 1e9:,.3f} ms of the run")]
    if failure := scene.data["failure"]:
        rows.append(("link cut", "–".join(trace.route([failure["link"]]))))
    rows += [("copies over links", f"{scene.copies:,}"), ("late copies dropped", f"{scene.late:,}")]
    if failure:
        rows.append(("data segments lost", f"{scene.lost:,}"))
        rows.append(
            ("data delivered again", "no" if scene.done is None else f"after {time(scene.done - failure['at'])}")
        )
    elif scene.done is not None:
        what = "data delivered on the new path" if scene.is_under_way else "first data delivered"
        rows.append((what, f"after {time(scene.done)}"))
    if scene.done is not None:
        rows.append(("new path" if failure else "chosen path", " → ".join(trace.route(scene.data["path"]))))
    return rows


def _header(trace: Trace, time_line: str | None) -> str:
    flow, (source, target) = trace.flow, trace.ends
    what = [
        f"{trace.data['scheme']} on {trace.fabric.name}",
        f"flow {flow['flow']} of {plural(trace.data['flows'], 'flow')}",
        f"TCP ports {flow['sport']} to {flow['dport']}",
        quantity.size(flow["bytes"]),
        f"seed {trace.data['seed']}",
    ]
    cut = any(scene.data["cut"] for scene in trace.scenes)
    remarks = [
        *([f"No recovery is shown: {trace.no_recovery}."] if trace.no_recovery else []),
        *(["Too many frames to show all: the last ones are left out."] if cut else []),
    ]
    warnings = "".join(f"<p>{escape(text)}</p>" for text in remarks)
    return (
        f'<header class="top"><div><h1>How {escape(source)} finds a path to {escape(target)}</h1>'
        f'<div class="meta">{escape(" · ".join(what))}<br>{escape(trace.data["name"])}: all other traffic is '
        "simulated but not drawn</div>"
        + (f"<p>{link(time_line, 'Time line of this flow')}</p>" if time_line else "")
        + (f'<div class="warn">{warnings}</div>' if warnings else "")
        + "</div></header>"
    )


_LEGEND = (
    ("request", "copy of a request"),
    ("waits", "waiting in a queue"),
    ("reply", "reply"),
    ("fail", "Path Fail"),
    ("segment", "SYN, ACK"),
    ("data", "data"),
    ("late", "late copy dropped"),
    ("loss", "frame lost"),
    ("lock", "port locked"),
    ("keep", "port confirmed"),
)


def _player(trace: Trace) -> str:
    names = {"exploration": "The exploration", "recovery": "A link fails"}
    scenes = "".join(
        f'<button type="button" data-scene="{number}" aria-pressed="{"false" if number else "true"}">'
        f"{number + 1}. {names[scene.data['kind']]}</button>"
        for number, scene in enumerate(trace.scenes)
    )
    legend = "".join(
        f'<span><svg viewBox="-9 -9 18 18" aria-hidden="true" data-mark="{kind}"></svg>{text}</span>'
        for kind, text in _LEGEND
    )
    buttons = "".join(
        f'<button type="button" id="{ident}" aria-label="{label}" title="{label} ({key})">{face}</button>'
        for ident, label, key, face in (
            ("first", "Go to start", "Home", _icon("M4 3v10M13 3L6 8l7 5z")),
            ("back", "Previous event", "←", _icon("M11 3L4 8l7 5z")),
            ("play", "Play", "space", _icon("M4 2.5l9 5.5l-9 5.5z")),
            ("next", "Next event", "→", _icon("M5 3l7 5l-7 5z")),
            ("last", "Go to end", "End", _icon("M12 3v10M3 3l7 5l-7 5z")),
        )
    )
    speeds = "".join(
        f'<option value="{value}"{" selected" if value == 1 else ""}>{text}</option>'
        for value, text in ((0.25, "¼ ×"), (0.5, "½ ×"), (1, "1 ×"), (2, "2 ×"), (4, "4 ×"))
    )
    return (
        f'<section class="player" aria-label="Player"><div class="head"><div class="tabs" role="group" '
        f'aria-label="Scene">{scenes}</div><div class="tally" id="tally"></div></div>'
        '<div class="both"><div class="left"><svg id="stage" role="img" aria-label="The fabric"></svg>'
        f'<div class="controls">{buttons}<input type="range" id="scrub" min="0" max="1000" step="any" value="0" '
        'aria-label="Time"><output id="clock"></output>'
        f'<label>speed <select id="speed">{speeds}</select></label></div>'
        '<p class="now" id="now" aria-live="polite"></p>'
        f'<div class="legend">{legend}</div></div>'
        '<div class="right"><h2 id="title">Events</h2><ol id="lines" aria-labelledby="title"></ol></div></div>'
        '<dl class="facts" id="facts"></dl>'
        '<p class="caption">Time is uniform while frames move, and compressed while all wait in queues. '
        "Keys: space, ←, →, Home, End, 1, 2.</p></section>"
    )


def _icon(path: str) -> str:
    return f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{path}"/></svg>'
