"""How long a flow stalls and how many frames it loses when its link fails, by carrier loss or silently."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benches.ratio import spread
from benches.switch.lab import Lab, LabError
from benches.switch.peers import Bridge, Switch, Weft
from benches.switch.ring import INTERVAL_US, Stream, build


@dataclass(frozen=True)
class Peer:
    """A kind of switch, with its settings and limits."""

    name: str
    settle: float
    """Seconds until a ring converges after it is built or repaired."""
    cut: float
    """Worst-case recovery time from carrier loss, in seconds."""
    silent: float
    """Worst-case recovery time from silent loss, in seconds."""
    target_cut_ms: float | None = None
    target_silent_ms: float | None = None
    hello: str | None = None
    stp: tuple[float, float, float] | None = None


# IEEE 802.1D-2004, table 17-5: 2 * (delay - 1) >= age >= 2 * (hello + 1), and a delay of 4 to 30 s.
PEERS = (
    Peer("weft, Hello 1 s", 5, 1, 4, target_cut_ms=50, target_silent_ms=3000, hello="1 s"),
    Peer("weft, Hello 50 ms", 2, 1, 1, target_cut_ms=50, target_silent_ms=150, hello="50 ms"),
    Peer("bridge, STP at its fastest", 12, 25, 25, stp=(4, 1, 6)),
    Peer("bridge, STP", 40, 70, 70, stp=(15, 2, 20)),
)


def switches(lab: Lab, peer: Peer) -> list[Switch]:
    """Three switches; the first bridge is the root, so that the flow uses the link that will fail."""
    if peer.hello:
        hello = f'[hello]\ninterval = "{peer.hello}"\n'
        return [Weft(lab, f"s{number}", "tcp-path", hello) for number in (1, 2, 3)]
    return [Bridge(lab, f"s{number}", peer.stp, 4096 * number) for number in (1, 2, 3)]


def measure(trials: int, slow: bool, progress: Callable[[str], None]) -> dict[str, Any]:
    """Outages of each peer; `slow` adds one trial of STP with its default timers."""
    result: dict[str, Any] = {}
    for peer in PEERS:
        if peer.name == "bridge, STP" and not slow:
            continue
        count = trials if peer.hello else max(1, trials // 4) if peer.name != "bridge, STP" else 1
        with Lab() as lab:
            ring = build(lab, switches(lab, peer))
            time.sleep(peer.settle)
            for way, longest, target in (
                ("carrier loss", peer.cut, peer.target_cut_ms),
                ("silence", peer.silent, peer.target_silent_ms),
            ):
                outages, missing = [], 0
                for trial in range(count):
                    progress(f"{peer.name}, {way}, {trial + 1} of {count}")
                    stream = Stream(ring, 20_000 + trial, longest + 1)
                    time.sleep(0.5 + trial * 0.137 % 1)
                    cable = ring.cables[1, 2]
                    if way == "silence":
                        cable.swallow()
                    else:
                        cable.cut()
                    try:
                        outages.append(outage(peer, way, stream.result()))
                    except LabError:
                        missing += 1
                    cable.mend(way != "silence")
                    time.sleep(peer.settle)
                result.setdefault(peer.name, {})[way] = {
                    "not_back": missing,
                    "outage_ms": spread([row["outage_ms"] for row in outages]).json() if outages else None,
                    "lost": spread([row["lost"] for row in outages]).json() if outages else None,
                    "target_ms": target,
                    "trials": outages,
                }
    return result


def outage(peer: Peer, way: str, received: dict[str, Any]) -> dict[str, float]:
    """The outage of a trial: time between sending the last frame that arrived before it and the first after it."""
    gaps = [gap for gap in received["gaps"] if gap["lost"]]
    if any(gap["sent_ns"] is None for gap in gaps):
        raise LabError(f"{peer.name}, {way}: the flow did not resume")
    sent = sum(gap["sent_ns"] - INTERVAL_US * 1000 for gap in gaps) / 1e6
    still = max((gap["still_ns"] for gap in gaps), default=0) / 1e6
    return {
        "outage_ms": sent,
        "still_ms": still,
        "lost": received["lost"],
        "twice": received["twice"],
        "longest_pause_ms": received["longest_pause_ms"],
    }
