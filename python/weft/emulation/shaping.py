"""Links with a given rate and queue: HTB over a FIFO on every interface, configured in one batch and read back.

`burst 1400b` makes the link busy after every full frame, like a wire: with an ordinary token bucket, frames of a loaded
link pass unqueued and explorations cannot see the load. `overhead` counts preamble, frame check sequence and gap, which
Linux does not, so that a frame takes as long as in the simulator.

tc accepts some options without applying them, and some kernels lack some disciplines; so the resulting configuration is
compared with the requested one.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .errors import EmulationError
from .plan import FRAMING, HEADER, MTU, End, Plan
from .requirements import program

_NOTICEABLE = Fraction(1, 20)
"""Share of a full frame's transmission time below which the delay of a whole path is not emulated, with a warning."""
FRAME_BY_FRAME = 1400
"""Bytes of a burst with which a link is busy after every full frame, and makes up for timers that are late by less.

With 100 bytes (8 us at 100 Mbps) a link of 100 Mbps carried 5 % too little, with 300 to 900 bytes on some days 2.4 %;
with a whole frame, an idle link would pass two at once.
"""
_FULL_FRAME = MTU + HEADER
"""Bytes of a full frame as counted by Linux."""
_RATE_UNITS = {"bit": 1, "Kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_RATE_PRECISION = 1e-3
"""Worst relative precision of a rate printed by tc."""


@dataclass(frozen=True)
class Shape:
    """The shaping of a link direction, on the interface that sends; `burst` bytes of an idle link.

    `overhead`: bytes per frame in addition to those that Linux counts; `limit`: `pfifo limit 100`, `bfifo limit 150000`
    or `netem ...` with its options.
    """

    rate_bps: int
    overhead: int
    limit: str
    burst: int = FRAME_BY_FRAME

    def commands(self, interface: str) -> list[str]:
        """Lines for `tc -batch`."""
        counted = f" overhead {self.overhead}" if self.overhead else ""
        return [
            f"qdisc add dev {interface} root handle 1: htb default 1",
            f"class add dev {interface} parent 1: classid 1:1 htb rate {self.rate_bps}bit ceil {self.rate_bps}bit"
            f" burst {self.burst}b cburst {self.burst}b quantum {_FULL_FRAME}{counted}",
            f"qdisc add dev {interface} parent 1:1 handle 10: {self.limit}",
        ]


def shapes(plan: Plan, delays: bool, burst_s: float = 0.0) -> dict[str, dict[str, Shape]]:
    """The shape of every interface: by node, then by interface; with `delays`, links have theirs (see `delay_matters`).

    An idle link sends a burst of `burst_s` seconds of its rate, at least a frame; 0 for links that are busy after every
    frame. The kernel sets a timer per burst; frame by frame, this dominates CPU usage on fast links.
    """
    wanted: dict[str, dict[str, Shape]] = {}
    for cable in plan.cables:
        for end in cable.ends:
            wanted.setdefault(end.node, {})[plan.interface(end)] = _shape(end, delays, burst_s)
    return wanted


def _shape(end: End, delays: bool, burst_s: float) -> Shape:
    overhead = max(FRAMING[end.overhead] - HEADER, 0)
    if delays and end.delay_ps > 0:
        frame = _FULL_FRAME * 8 * 10**12 // end.rate_bps
        waiting = end.queue_packets or (end.queue_bytes or 0) // _FULL_FRAME
        under_way = -(-end.delay_ps // frame)
        limit = f"netem limit {waiting + under_way} delay {end.delay_ps / 1e6:g}us"
    elif end.queue_packets is not None:
        limit = f"pfifo limit {end.queue_packets}"
    else:
        limit = f"bfifo limit {end.queue_bytes}"
    burst = max(round(end.rate_bps / 8 * burst_s), _FULL_FRAME) if burst_s else FRAME_BY_FRAME
    return Shape(end.rate_bps, overhead, limit, burst)


_SIMULATED = {"red": "marks packets at random", "trim": "cuts packets", "pfc": "pauses its sender"}
"""Keys of ports that emulated links do not have."""


def refuse_special(plan: Plan) -> list[str]:
    """Check that all queues can be emulated; returns warnings.

    Raises `EmulationError` if a port does more than hold packets, or queues share a buffer.
    """
    if plan.shares_buffer:
        raise EmulationError(
            "the queues of a switch share one `buffer`; emulated queues do not",
            "`weft run` simulates it; without `fabric.buffer` it can be emulated",
        )
    warnings = []
    for cable in plan.cables:
        for end in cable.ends:
            if "ecn_threshold" in end.special:
                raise EmulationError(
                    f"the queue of {plan.link_name(cable, end)} marks packets (`ecn_threshold`); emulated links cannot",
                    "`weft run` simulates it; without `fabric.ecn_threshold` it can be emulated",
                )
            for key, what in _SIMULATED.items():
                if key in end.special:
                    raise EmulationError(
                        f"the port of {plan.link_name(cable, end)} {what} (`{key}`); emulated links cannot",
                        f"`weft run` simulates it; without `fabric.{key}` it can be emulated",
                    )
            if end.special:
                raise EmulationError(
                    f"{plan.link_name(cable, end)} has several queues (`queues`); emulated links have one",
                    "`weft run` simulates it; without `fabric.queues` it can be emulated",
                )
    framings = {end.overhead for cable in plan.cables for end in cable.ends}
    for framing in sorted(name for name in framings if FRAMING[name] < HEADER):
        extra = HEADER - FRAMING[framing]
        warnings.append(
            f'emulated links are Ethernet: with `overhead = "{framing}"` a full frame takes'
            f" {extra / (MTU + FRAMING[framing]) * 100:.1f} % longer than simulated"
        )
    return warnings


def delay_matters(plan: Plan) -> tuple[bool, list[str]]:
    """Whether link delays have to be emulated, and warnings.

    They are not if the total delay of the longest path is less than a twentieth of a full frame's transmission time on
    the fastest link: below that, the machine's scheduling jitter dominates. Raises `EmulationError` if they matter and
    this kernel has no netem.
    """
    delay = max((end.delay_ps for cable in plan.cables for end in cable.ends), default=0)
    if delay == 0:
        return False, []
    frame = min(end.full_frame_ps for cable in plan.cables for end in cable.ends)
    path = path_cables(plan) * delay
    if Fraction(path, frame) < _NOTICEABLE:
        return False, [
            f"link delays are not emulated: {path / 1e6:g} us on a whole path, {path / frame * 100:.1f} % of a full"
            f" frame's transmission time on one link ({frame / 1e6:g} us)"
        ]
    if not has_netem():
        raise EmulationError(
            f"a path of this scenario has a delay of {path / 1e6:g} us, {path / frame * 100:.0f} % of a full"
            " frame's transmission time on one link; to emulate it, the kernel needs sch_netem",
            "a kernel with CONFIG_NET_SCH_NETEM; or `--set 'fabric.delay=\"0 s\"'`; or slower links: delays below 5 %"
            " are not emulated",
        )
    return True, []


def path_cables(plan: Plan) -> int:
    """Number of links on the longest of the shortest paths between communicating hosts."""
    neighbours: dict[str, set[str]] = {}
    for cable in plan.cables:
        neighbours.setdefault(cable.a.node, set()).add(cable.b.node)
        neighbours.setdefault(cable.b.node, set()).add(cable.a.node)
    pairs: dict[str, set[str]] = {}
    for flow in plan.flows:
        pairs.setdefault(flow["src"], set()).add(flow["dst"])
    return max((_farthest(neighbours, source, targets) for source, targets in pairs.items()), default=0)


def _farthest(neighbours: Mapping[str, set[str]], source: str, targets: set[str]) -> int:
    seen, ring, distance, farthest, left = {source}, {source}, 0, 0, set(targets)
    while ring and left:
        distance += 1
        ring = {other for node in ring for other in neighbours[node]} - seen
        seen |= ring
        if left & ring:
            farthest, left = distance, left - ring
    return farthest


def has_netem() -> bool:
    """Whether this kernel can delay frames; tried in a temporary namespace."""
    tc, unshare = program("tc"), program("unshare")
    if tc is None or unshare is None:
        return False
    command = [unshare, "--net", tc, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def apply(wanted: Mapping[str, Shape]) -> None:
    """Shape interfaces of the thread's current namespace in one batch, and verify the result.

    Raises `EmulationError` if tc fails, or the result differs from the request.
    """
    lines = [line for interface, shape in wanted.items() for line in shape.commands(interface)]
    done = subprocess.run(
        [str(program("tc")), "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise EmulationError(f"tc cannot shape the links: {done.stderr.strip()}")
    wrong = differences(wanted, *reports(wanted))
    if wrong:
        raise EmulationError(f"the kernel did not shape links as requested: {'; '.join(wrong[:3])}")


def reports(interfaces: Iterable[str]) -> tuple[str, list[str]]:
    """Reports of tc for the thread's current namespace: all queues as JSON, and each interface's class as text."""
    queues = subprocess.run([str(program("tc")), "-j", "qdisc", "show"], capture_output=True, text=True, check=True)
    return queues.stdout, _classes(list(interfaces))


def differences(wanted: Mapping[str, Shape], qdiscs: str, classes: Iterable[str]) -> list[str]:
    """Differences of tc's `qdisc show` (JSON) and `class show` (text) from the requested shapes."""
    there: dict[str, dict[str, str]] = {}
    for entry in json.loads(qdiscs):
        options = entry.get("options", {})
        place = "root" if entry.get("root") else str(entry.get("parent"))
        there.setdefault(entry.get("dev", ""), {})[place] = _said(entry["kind"], options)
    wrong = []
    for (interface, shape), text in zip(wanted.items(), classes, strict=True):
        found = there.get(interface, {})
        if not found.get("root", "").startswith("htb"):
            wrong.append(f"{interface} has {found.get('root', 'nothing')}, not htb")
        if not _same_limit(found.get("1:1", ""), shape.limit):
            wrong.append(f"{interface} queues by {found.get('1:1', 'nothing')}, not {shape.limit}")
        wrong += [f"{interface} {remark}" for remark in _class_differences(text, shape)]
    return wrong


def _said(kind: str, options: Mapping[str, object]) -> str:
    if kind == "netem":
        delay = options.get("delay", {})
        seconds = float(delay["delay"]) if isinstance(delay, dict) else 0.0
        return f"netem limit {options.get('limit')} delay {seconds * 1e6:g}us"
    return f"{kind} limit {options['limit']}" if "limit" in options else kind


def _same_limit(found: str, wanted: str) -> bool:
    """Whether two queues are the same: equal words, delays within a microsecond (tc's resolution)."""
    if not wanted.startswith("netem"):
        # tc prints the limit of a bfifo with its unit.
        return found.removesuffix("b") == wanted
    *said, found_delay = found.split(" delay ")
    *asked, wanted_delay = wanted.split(" delay ")
    if said != asked or not found_delay.endswith("us"):
        return False
    return abs(float(found_delay[:-2]) - float(wanted_delay[:-2])) <= 1


def _class_differences(text: str, shape: Shape) -> list[str]:
    if " 1:1 " not in text:
        return ["has no class"]
    wrong = []
    for what in ("rate", "ceil"):
        found = _rate(text, what)
        if found is None or abs(found - shape.rate_bps) > _RATE_PRECISION * shape.rate_bps:
            wrong.append(f"has {what} {found}, not {shape.rate_bps} bit/s")
    # tc converts a burst to whole microseconds and back to bytes, rounding down both times.
    kept = 2 * shape.rate_bps / 8e6 + 1
    expected = {
        "burst": (shape.burst, kept),
        "cburst": (shape.burst, kept),
        "quantum": (_FULL_FRAME, 0),
        "overhead": (shape.overhead, 0),
    }
    for what, (value, precision) in expected.items():
        match = re.search(rf"\b{what} ([0-9]+)b?\b", text)
        found_bytes = int(match.group(1)) if match else 0
        if abs(found_bytes - value) > precision:
            wrong.append(f"has {what} {found_bytes}, not {value}")
    return wrong


def _rate(text: str, what: str) -> float | None:
    match = re.search(rf"\b{what} ([0-9.]+)([KMGT]?bit)", text)
    return float(match.group(1)) * _RATE_UNITS[match.group(2)] if match else None


def _classes(interfaces: list[str]) -> list[str]:
    script = "\n".join(f"class show dev {interface}" for interface in interfaces)
    command = [str(program("tc")), "-d", "-batch", "-"]
    said = subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout
    lines = [line for line in said.splitlines() if line.startswith("class ")]
    if len(lines) != len(interfaces):
        raise EmulationError(f"{len(interfaces)} interfaces were shaped, tc shows {len(lines)} classes")
    return lines
