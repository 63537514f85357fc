"""A scene as text: one line per event, with time and place.

The page draws moving frames; lines describe only their effects, so that a flood of hundreds of copies stays readable.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ..labels import plural
from .trace import REPLIES, REQUESTS, Scene, Trace

AT_ONCE = 1_000
"""Copies of one flood leave a picosecond apart: within this many picoseconds they are one event."""

LATE_LINES = 150
"""Maximum number of late copies with separate lines."""

NAMES = {
    "arp_request": "ARP Request",
    "arp_reply": "ARP Reply",
    "path_request": "Path Request",
    "path_reply": "Path Reply",
    "path_fail": "Path Fail",
    "recovery_request": "Recovery Request",
    "recovery_reply": "Recovery Reply",
    "syn": "SYN",
    "syn_ack": "SYN+ACK",
    "data": "data",
    "ack": "ACK",
    "fin": "FIN",
    "rst": "RST",
}
"""Names of frames."""

WHY = {
    "queue_full": "the queue is full",
    "link_down": "the link is down",
    "link_loss": "the link loses it",
    "blackhole": "the link loses all packets of the flow",
    "no_route": "no path is known",
    "same_port": "the next hop is the port it came from",
    "repairing": "a path repair is in progress",
    "stale": "its path no longer exists",
    "too_many_hops": "too many hops",
    "dead_end": "no port to forward it to",
    "unknown_port": "the port's role is not known yet",
    "rate_limited": "the port exceeds its flood rate limit",
    "returned": "it returned to its originating switch",
    "untrusted": "only switches may send it",
}
"""Reasons for drops, as text."""


CONTROL = (*REQUESTS, *REPLIES, "path_fail", "syn")
"""Frames that make a switch send other frames."""

Line = tuple[int, str, str, str]
"""Time, kind of event, place and text."""

_ORDER = ("break", "fail", "forget", "request", "lock", "late", "segment", "reply", "keep", "loss", "done")
"""Kinds of lines, in their order within one instant."""


def copies(number: int, which: str = "") -> str:
    """A number of copies, as text."""
    return f"{number:,} {which}{'copy' if number == 1 else 'copies'}"


class Story:
    """The lines of one scene."""

    def __init__(self, trace: Trace, scene: Scene) -> None:
        self.trace = trace
        self.scene = scene
        self.nodes = trace.fabric.nodes
        self.names = [node.name for node in self.nodes]
        numbers = {name: number for number, name in enumerate(self.names)}
        self.ends = [(numbers[link.source], numbers[link.target]) for link in trace.fabric.links]
        self.floods = self._floods()

    def lines(self) -> list[dict[str, Any]]:
        """Events in order of time: `at`, `kind` (selects the mark), `where` and `text`."""
        parts = (self._failures, self._sent, self._tables, self._late, self._segments, self._losses, self._end)
        lines = [
            {"at": at, "kind": kind, "where": where, "text": text} for part in parts for at, kind, where, text in part()
        ]
        return sorted(lines, key=lambda line: (line["at"], _ORDER.index(line["kind"])))

    def _cable(self, link: int) -> str:
        return "–".join(self.names[end] for end in self.ends[link])

    def _floods(self) -> dict[tuple[int, int], tuple[str, int]]:
        """Frames sent by switches, by node and time: kind, and number of copies."""
        sent: dict[tuple[int, str], list[int]] = defaultdict(list)
        for _, hop in self.scene.hops():
            if hop["what"] in (*REQUESTS, "path_fail"):
                sent[self.ends[hop["link"]][0], hop["what"]].append(hop["sent"])
        floods: dict[tuple[int, int], tuple[str, int]] = {}
        for (node, what), times in sent.items():
            start = None
            for at in sorted(times):
                start = start if start is not None and at - start < AT_ONCE else at
                floods[node, start] = (what, floods.get((node, start), (what, 0))[1] + 1)
        return floods

    def _failures(self) -> Iterator[Line]:
        seen = set()
        for change in self.scene.data["links"]:
            cable = (change["at"], change["link"] // 2)
            if cable not in seen:
                seen.add(cable)
                text = "the link recovers" if change["up"] else "the link fails: frames on it are lost"
                yield change["at"], "break", self._cable(change["link"]), text

    def _sent(self) -> Iterator[Line]:
        """Frames originated by switches; forwarded ones are mentioned in the line of the lock."""
        arrived = [hop for _, hop in self.scene.hops() if hop["what"] in CONTROL]
        passing = {(self.ends[hop["link"]][1], hop["arrived"]): self.ends[hop["link"]][0] for hop in arrived}
        locks = {(change["node"], change["at"]) for change in self.scene.data["kept"]}
        fails: dict[int, list[int]] = defaultdict(list)
        for (node, at), (what, number) in self.floods.items():
            # Initial table entries have no lines, so the start of the exploration gets this one.
            begins = at == 0 and what == "recovery_request"
            if (node, at) in locks and what in REQUESTS and not begins:
                continue
            if (node, at) in passing:
                if what in REQUESTS:
                    way = self.names[passing[node, at]]
                    yield (
                        at,
                        "lock",
                        self.names[node],
                        f"first copy, from {way}: still locked to it, forwards {copies(number)}",
                    )
                continue
            if what == "path_fail" and number == 1:
                fails[node].append(at)
                continue
            many = f"floods {copies(number)} of" if number > 1 else "sends"
            kind = "fail" if what == "path_fail" else "request"
            yield at, kind, self.names[node], f"{many} {_a(NAMES[what])}"
        for node, times in fails.items():
            again = f", {len(times):,} times, the last at {time(max(times))}" if len(times) > 1 else ""
            yield min(times), "fail", self.names[node], f"sends a Path Fail{again}"

    def _tables(self) -> Iterator[Line]:
        before: dict[int, dict[str, Any]] = {}
        for change in self.scene.data["kept"]:
            node, at = change["node"], change["at"]
            old = before.get(node, {"source": None, "destination": None})
            before[node] = change
            if at == 0:
                continue
            new = {end for end in ("source", "destination") if change[end] not in (None, old[end])}
            gone = {end for end in ("source", "destination") if change[end] is None and old[end] is not None}
            locked = [end for end in new if not change[end]["confirmed"]]
            if locked:
                yield at, "lock", self.names[node], self._locked(change, sorted(locked)[-1])
            elif new:
                ways = " and ".join(
                    f"{self._end_of(end)} via {self._way(change[end])}" for end in sorted(new, reverse=True)
                )
                yield at, "keep", self.names[node], f"confirmed: {ways}"
            if gone:
                what = "the flow" if len(gone) == 2 or not new else f"the path to {self._end_of(gone.pop())}"
                yield at, "forget", self.names[node], f"removes {what}"

    def _end_of(self, end: str) -> str:
        return self.trace.ends[end == "destination"]

    def _way(self, entry: dict[str, Any]) -> str:
        link: int = entry["link"]
        return self.names[self.ends[link][1]]

    def _locked(self, change: dict[str, Any], end: str) -> str:
        """The text for a switch that locks one end of the flow to a port."""
        way = self._way(change[end])
        what, number = self.floods.get((change["node"], change["at"]), ("", 0))
        if self.nodes[self.ends[change[end]["link"]][1]].is_host:
            return f"locks to {way}" + (f", floods {copies(number)} of {_a(NAMES[what])}" if number else "")
        return f"first copy, from {way}: locks to it" + (f", forwards {copies(number)}" if number else "")

    def _late(self) -> Iterator[Line]:
        """Copies that lost the race: one line each, or one per switch if there are many."""
        late = [frame for frame in self.scene.frames if (frame["end"] or {}).get("reason") == "late_copy"]
        if len(late) > LATE_LINES:
            times: dict[int, list[int]] = defaultdict(list)
            for frame in late:
                times[frame["end"]["node"]].append(frame["end"]["at"])
            for node, ends in times.items():
                last = f" (the last at {time(max(ends))})" if len(ends) > 1 else ""
                yield min(ends), "late", self.names[node], f"drops {copies(len(ends), 'late ')}{last}"
            return
        for frame in late:
            hop = frame["hops"][-1]
            start, end = self.ends[hop["link"]]
            text = f"late copy of the {NAMES[hop['what']]}, from {self.names[start]}: dropped"
            yield frame["end"]["at"], "late", self.names[end], text

    def _segments(self) -> Iterator[Line]:
        """The handshake, replies, and the first data."""
        data_seen = self.scene.is_under_way
        for frame in self.scene.frames:
            previous = None
            for hop in frame["hops"]:
                what, at, node = hop["what"], hop["sent"], self.names[self.ends[hop["link"]][0]]
                if what in REPLIES and previous != what:
                    wrapped = f"wraps the SYN+ACK in a {NAMES[what]}" if previous else f"answers with {_a(NAMES[what])}"
                    yield at, "reply", node, wrapped
                elif what in ("syn", "syn_ack") and previous in ("path_request", "path_reply"):
                    yield at, "segment", node, f"unwraps the {NAMES[what]}"
                elif what in ("syn", "syn_ack") and previous is None and frame["copy_of"] is None:
                    yield at, "segment", node, f"sends {_a(NAMES[what])}"
                elif what == "data" and not data_seen:
                    data_seen = True
                    yield at, "segment", node, "sends its first data"
                previous = what

    def _losses(self) -> Iterator[Line]:
        """Other dropped frames: one line for each kind, place and reason."""
        lost: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for frame in self.scene.frames:
            end = frame["end"]
            if end and end["fate"] == "dropped" and end["reason"] not in ("late_copy", "not_for_me"):
                hop = frame["hops"][-1]
                place = self._cable(hop["link"]) if end["node"] is None else self.names[end["node"]]
                lost[place, hop["what"], end["reason"]].append(end["at"])
        for (place, what, reason), times in lost.items():
            why = WHY.get(reason, reason.replace("_", " "))
            until = f" (the last at {time(max(times))})" if max(times) - min(times) > AT_ONCE else ""
            number = f"{len(times):,} × " if len(times) > 1 else ""
            yield min(times), "loss", place, f"{number}{NAMES[what]} lost: {why}{until}"

    def _end(self) -> Iterator[Line]:
        """The end: data is delivered, and unconfirmed locks expire."""
        scene = self.scene
        if scene.done is None:
            yield scene.data["end"], "loss", self.trace.ends[1], "no data was delivered again within the time shown"
            return
        route = " → ".join(self.trace.route(scene.data["path"]))
        way = "the first data is delivered" if not scene.is_under_way else "data is delivered on the new path"
        first = "data is delivered again" if scene.is_recovery else way
        yield scene.done, "done", self.trace.ends[1], f"{first}, via {route}"
        if scene.unconfirmed:
            lock = self.trace.data["lock_ps"] / 1e12
            text = f"{plural(scene.unconfirmed, 'lock')} without a reply: expired after {lock:g} s"
            yield scene.data["end"], "forget", "elsewhere", text


def _a(name: str) -> str:
    return f"{'an' if name[0] == 'A' else 'a'} {name}"


def time(ps: int) -> str:
    """A time within a scene, as text."""
    return f"{ps / 1e6:,.1f} µs"
