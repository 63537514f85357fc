"""Links of a given rate and queue: HTB over a FIFO on every interface, set in one batch, read back and compared.

`burst 300b` makes the link busy after every frame, as a wire is: with an ordinary token bucket frames of a loaded link
pass unqueued, and an exploration cannot see the load. `overhead` counts the bytes of preamble, check sequence and gap
that Linux does not, so that a frame takes as long as in the simulator.

tc accepts some options without doing them, and some kernels lack some disciplines; so what is there in the end is
compared with what was asked for.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from .errors import EmulationError
from .plan import FRAMING, HEADER, End, Plan
from .requirements import program

_NOTICEABLE = Fraction(1, 20)
"""Share of a full frame's sending time below which the delay of a whole path is left out, with a warning."""
_QUANTUM = 1514
FRAME_BY_FRAME = 300
"""Bytes of a burst with which a link is busy after every full frame, and makes up for timers that are late by less.

With 100 bytes (8 us at 100 Mbps) a link of 100 Mbps carried 5 % too little; with a whole frame, an idle link would pass
two at once.
"""
_MINIMUM_MTU_FRAME = 1514
"""Bytes of a full frame as Linux counts it."""
_RATE_UNITS = {"bit": 1, "Kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12}
_RATE_PRECISION = 1e-3
"""tc prints a rate with this relative precision at worst."""


@dataclass(frozen=True)
class Shape:
    """What the direction of a link that leaves an interface is to be.

    Attributes:
        rate_bps: In bit/s.
        overhead: Bytes that each frame counts beyond what Linux sees.
        limit: `pfifo limit 100`, `bfifo limit 150000` or `netem ...` with what follows.
        burst: Bytes that an idle link may pass at once.
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
            f" burst {self.burst}b cburst {self.burst}b quantum {_QUANTUM}{counted}",
            f"qdisc add dev {interface} parent 1:1 handle 10: {self.limit}",
        ]


def shapes(plan: Plan, delays: bool, burst_s: float = 0.0) -> dict[str, dict[str, Shape]]:
    """The shape of every interface: by node, then by interface.

    Args:
        plan: With the links.
        delays: Whether links delay (see `delay_matters`).
        burst_s: Seconds' worth of its rate that an idle link may pass at once, at least a frame; 0 for links that are
            busy after every frame. The kernel sets a timer a burst, which for frame by frame takes more of a processor
            than anything else does where links are fast.
    """
    wanted: dict[str, dict[str, Shape]] = {}
    for cable in plan.cables:
        for end in cable.ends:
            wanted.setdefault(end.node, {})[plan.interface(end)] = _shape(end, delays, burst_s)
    return wanted


def _shape(end: End, delays: bool, burst_s: float) -> Shape:
    overhead = max(FRAMING[end.overhead] - HEADER, 0)
    if delays and end.delay_ps > 0:
        frame = _MINIMUM_MTU_FRAME * 8 * 10**12 // end.rate_bps
        waiting = end.queue_packets or (end.queue_bytes or 0) // _MINIMUM_MTU_FRAME
        under_way = -(-end.delay_ps // frame)
        limit = f"netem limit {waiting + under_way} delay {end.delay_ps / 1e6:g}us"
    elif end.queue_packets is not None:
        limit = f"pfifo limit {end.queue_packets}"
    else:
        limit = f"bfifo limit {end.queue_bytes}"
    burst = max(round(end.rate_bps / 8 * burst_s), _MINIMUM_MTU_FRAME) if burst_s else FRAME_BY_FRAME
    return Shape(end.rate_bps, overhead, limit, burst)


def refuse_special(plan: Plan) -> list[str]:
    """Refuse queues that cannot be emulated; returns warnings.

    Raises:
        EmulationError: A queue marks or has several classes.
    """
    warnings = []
    for cable in plan.cables:
        for end in cable.ends:
            if "ecn_threshold" in end.special:
                raise EmulationError(
                    f"the queue of {plan.link_name(cable, end)} marks packets (`ecn_threshold`), emulated links do not",
                    "`weft run` simulates it; without `fabric.ecn_threshold` it can be emulated",
                )
            if end.special:
                raise EmulationError(
                    f"{plan.link_name(cable, end)} has several queues (`queues`), emulated links have one",
                    "`weft run` simulates it; without `fabric.queues` it can be emulated",
                )
    framings = {end.overhead for cable in plan.cables for end in cable.ends}
    for framing in sorted(name for name in framings if FRAMING[name] < HEADER):
        extra = HEADER - FRAMING[framing]
        warnings.append(
            f'emulated links are Ethernet: with `overhead = "{framing}"` a full frame takes'
            f" {extra / (1500 + FRAMING[framing]) * 100:.1f} % longer than simulated"
        )
    return warnings


def delay_matters(plan: Plan) -> tuple[bool, list[str]]:
    """Whether the delays of links have to be emulated, and warnings.

    They may be left out where those of a longest path together, there being at most six cables on it, are less than a
    twentieth of what one full frame takes on the slowest link: below that they are lost in what the machine's own
    scheduling adds.

    Raises:
        EmulationError: They matter and this kernel has no netem.
    """
    delay = max((end.delay_ps for cable in plan.cables for end in cable.ends), default=0)
    if delay == 0:
        return False, []
    frame = min(end.full_frame_ps for cable in plan.cables for end in cable.ends)
    path = path_cables(plan) * delay
    if Fraction(path, frame) < _NOTICEABLE:
        return False, [
            f"links delay nothing here: {path / 1e6:g} us on a whole path are {path / frame * 100:.1f} % of what a full"
            f" frame takes on one link ({frame / 1e6:g} us)"
        ]
    if not has_netem():
        raise EmulationError(
            f"a path of this scenario delays by {path / 1e6:g} us, {path / frame * 100:.0f} % of what a full"
            " frame takes on one link; to emulate that this kernel would need sch_netem",
            "a kernel with CONFIG_NET_SCH_NETEM; or `--set 'fabric.delay=\"0 s\"'`; or slower links, on which less than"
            " 5 % is left out",
        )
    return True, []


def path_cables(plan: Plan) -> int:
    """The cables of a longest shortest path between hosts that send to each other."""
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
    """Whether this kernel can delay frames; tried on a device of a namespace that is made for it."""
    tc, unshare = program("tc"), program("unshare")
    if tc is None or unshare is None:
        return False
    command = [unshare, "--net", tc, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def apply(wanted: Mapping[str, Shape]) -> None:
    """Shape the interfaces of the namespace that the thread is in, in one batch, and check it.

    Raises:
        EmulationError: tc refuses it, or what is there then is not what was asked for.
    """
    lines = [line for interface, shape in wanted.items() for line in shape.commands(interface)]
    done = subprocess.run(
        [str(program("tc")), "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise EmulationError(f"tc cannot shape the links: {done.stderr.strip()}")
    wrong = differences(wanted, *reports(wanted))
    if wrong:
        raise EmulationError(f"this kernel's links are not what was asked for: {'; '.join(wrong[:3])}")


def reports(interfaces: Iterable[str]) -> tuple[str, list[str]]:
    """What tc says of the namespace that the thread is in: all queues as JSON, and each interface's class as text."""
    queues = subprocess.run([str(program("tc")), "-j", "qdisc", "show"], capture_output=True, text=True, check=True)
    return queues.stdout, _classes(list(interfaces))


def differences(wanted: Mapping[str, Shape], qdiscs: str, classes: Iterable[str]) -> list[str]:
    """What tc's `qdisc show` (JSON) and `class show` (text) report other than wanted; empty if all is as wanted."""
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
    """Whether two queues are the same: words equal, delays within a microsecond of tc's clock."""
    if not wanted.startswith("netem"):
        # tc prints the limit of a bfifo with its unit.
        return found.removesuffix("b") == wanted
    *said, found_delay = found.split(" delay ")
    *asked, wanted_delay = wanted.split(" delay ")
    if said != asked or not found_delay.endswith("us"):
        return False
    return abs(float(found_delay[:-2]) - float(wanted_delay[:-2])) <= 1


def _class_differences(text: str, shape: Shape) -> list[str]:
    """What the one class of an interface is other than wanted."""
    if " 1:1 " not in text:
        return ["has no class"]
    wrong = []
    for what in ("rate", "ceil"):
        found = _rate(text, what)
        if found is None or abs(found - shape.rate_bps) > _RATE_PRECISION * shape.rate_bps:
            wrong.append(f"has {what} {found}, not {shape.rate_bps} bit/s")
    # tc keeps a burst as a whole number of microseconds, and makes bytes of it again: rounded down both times.
    kept = 2 * shape.rate_bps / 8e6 + 1
    expected = {
        "burst": (shape.burst, kept),
        "cburst": (shape.burst, kept),
        "quantum": (_QUANTUM, 0),
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
    """What tc says of the classes of each interface, which have one each."""
    script = "\n".join(f"class show dev {interface}" for interface in interfaces)
    command = [str(program("tc")), "-d", "-batch", "-"]
    said = subprocess.run(command, input=script, capture_output=True, text=True, check=True).stdout
    lines = [line for line in said.splitlines() if line.startswith("class ")]
    if len(lines) != len(interfaces):
        raise EmulationError(f"{len(interfaces)} interfaces were shaped, tc shows {len(lines)} classes")
    return lines
