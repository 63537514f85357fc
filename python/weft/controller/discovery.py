"""Link discovery with LLDP: schedules a frame for each port, and derives links from the frames received.

Sans I/O: times and frames in; frames to send and link changes out. Every port that is up sends two frames when it comes
up and then one per interval; ports are spread over the interval. A link is down after `misses` lost frames in a row,
when one of its ports goes down, or when its frames arrive at another port. Losses are counted in frames, not in time:
no link is lost because this process was late.

A lost frame counts only if both switches have answered an echo request sent after it (`proofs`): otherwise a switch may
only have lost its connection to the controller and forward as before. The state of its links is then unknown and left
unchanged, as is that of a disconnected switch until it reconnects. A frame may count too early if the sending switch
gets it late, just before its turn is over. It then arrives before the next frame can count, and ends the row.
"""

import heapq
import math
import secrets
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

from . import lldp
from .proofs import Proofs

End = tuple[int, int]
"""A datapath id and a port."""

_FIRST_S = (0.0, 0.25)
"""Times of the extra frames after a port comes up; the second in case the other end was not ready."""
_SPREAD_S = 0.0005
"""Spacing of the first frames of ports that come up together."""
_ANSWER_S = 0.1
"""A port that receives a frame sends one at once, unless it sent one within this time."""
_CURRENT = 2
"""Only this many latest frames of a port are accepted; older ones were replayed."""
_GOLDEN = 0.6180339887498949
"""Steps of this fraction of an interval spread any number of ports evenly over it."""
_FOREIGN = 3
"""Frames from another controller before it is reported; fewer may be left over from a restart."""
_MOST_FOREIGN = 64
"""Maximum number of other controllers tracked."""


@dataclass(eq=False)
class _Port:
    """A port that is up, with its MAC address, and number and time of the last frame that it sent `to` a port.

    `unseen` frames were sent since one was last received; `lost` of them count as lost. Nothing is sent while it is
    silent: its switch is disconnected.
    """

    end: End
    address: bytes
    number: int = 0
    sent_at: float = -math.inf
    unseen: int = 0
    lost: int = 0
    to: End | None = None
    is_up: bool = True
    is_silent: bool = False


@dataclass(frozen=True)
class Link:
    """Frames of one port reach another (`up`), or no longer do."""

    up: bool
    source: End
    target: End
    why: str = ""


@dataclass(frozen=True)
class ForeignController:
    """Another controller's frames arrive at a port; reported once per controller."""

    who: str
    at: End


@dataclass
class Discovery:
    """Ports, frames and links: frames go out every `interval_s`, and a link is down after so many lost in a row.

    `counts`: frames `sent`, and frames received by kind.
    """

    interval_s: float
    misses: int
    signer: lldp.Signer = field(default_factory=lambda: lldp.Signer(secrets.randbits(64), secrets.token_bytes(32)))
    counts: Counter[str] = field(default_factory=Counter)
    _ports: dict[End, _Port] = field(default_factory=dict)
    _due: list[tuple[float, int, _Port, bool]] = field(default_factory=list)
    _scheduled: int = 0
    _heard: dict[End, _Port] = field(default_factory=dict)
    _foreign_frames: Counter[str] = field(default_factory=Counter)
    _proofs: Proofs = field(default_factory=Proofs)
    _asked: set[int] = field(default_factory=set)

    @property
    def links(self) -> int:
        """Number of links, counting directions separately."""
        return len(self._heard)

    def leads(self, end: End) -> End | None:
        """The port that receives a port's frames."""
        port = self._ports.get(end)
        return port.to if port is not None else None

    def port_up(self, now: float, end: End, address: bytes) -> None:
        """A port is up; start sending frames from it."""
        before = self._ports.get(end)
        if before is not None and not before.is_silent:
            before.address = address
            return
        port = self._ports[end] = _Port(end, address)
        if before is not None:
            # Cancels the frames that were scheduled for it before.
            before.is_up = False
            port.number, port.to = before.number, before.to
            if port.to is not None:
                self._heard[port.to] = port
        spread = len(self._ports) % 256 * _SPREAD_S
        for after in _FIRST_S:
            self._schedule(now + after + spread, port, regular=False)
        self._schedule(now + self.interval_s * (1 + len(self._ports) * _GOLDEN % 1), port, regular=True)

    def port_down(self, end: End) -> list[Link]:
        """A port is down or removed; returns its lost links."""
        port = self._ports.pop(end, None)
        if port is None:
            return []
        port.is_up = False
        lost = self._lose(port, "its port went down")
        source = self._heard.get(end)
        return lost + (self._lose(source, "its port went down") if source is not None else [])

    def replied(self, dpid: int, asked_at: float) -> None:
        """A switch has answered an echo request that was sent at this time."""
        self._proofs.replied(dpid, asked_at)

    def asked(self) -> set[int]:
        """Switches of links whose frames were sent since the last call; send each an echo request now."""
        asked, self._asked = self._asked, set()
        return asked

    def switch_down(self, dpid: int) -> None:
        """A switch has disconnected. Its links stay: it may forward as before but cannot report."""
        for port in self._of(dpid):
            port.is_silent = True
        self._proofs.disconnected(dpid)

    def switch_up(self, now: float, dpid: int, ports: Container[int]) -> list[Link]:
        """A switch has connected with these ports up; returns the links of its other ports, now down."""
        self._proofs.connected(now, dpid)
        gone = [port.end for port in self._of(dpid) if port.end[1] not in ports]
        return [link for end in gone for link in self.port_down(end)]

    def next_due(self) -> float:
        """Time of the next frame."""
        return self._due[0][0] if self._due else math.inf

    def due(self, now: float) -> tuple[list[tuple[End, bytes]], list[Link]]:
        """The frames to send now, with their ports, and the links lost."""
        frames: list[tuple[End, bytes]] = []
        lost: list[Link] = []
        while self._due and self._due[0][0] <= now:
            at, _, port, regular = heapq.heappop(self._due)
            if not port.is_up or port.is_silent:
                continue
            if regular:
                port.lost += self._is_lost(port)
                if port.lost >= self.misses:
                    lost += self._lose(port, f"{port.lost} LLDP frames in a row were lost")
                # Frames missed while this process was late are skipped.
                turns = math.floor((now - at) / self.interval_s) + 1
                self._schedule(at + turns * self.interval_s, port, regular=True)
            port.number += 1
            port.unseen += 1
            port.sent_at = now
            if port.to is not None:
                self._asked.update((port.end[0], port.to[0]))
            lifetime = math.ceil(self.interval_s * (self.misses + 1))
            frames.append((port.end, self.signer.frame(*port.end, port.address, port.number, lifetime)))
        self.counts["sent"] += len(frames)
        return frames, lost

    def received(self, now: float, at: End, frame: bytes) -> list[Link | ForeignController]:
        """Process an LLDP frame received at a port; returns link changes and other controllers."""
        said = lldp.read(frame)
        if said is None:
            return self._count("malformed")
        if isinstance(said, lldp.Foreign):
            self.counts["foreign"] += 1
            return self._foreign(f"with chassis id `{said.chassis}`", at) if said.is_controller else []
        if said.controller != self.signer.controller:
            self.counts["foreign"] += 1
            return self._foreign(f"Weft's, {said.controller:016x}", at)
        port = self._ports.get((said.dpid, said.port))
        if not self.signer.knows(said):
            return self._count("forged")
        if port is None or at not in self._ports or not 0 <= port.number - said.number < _CURRENT:
            return self._count("stale")
        if port.end == at:
            return self._count("returned")
        self.counts["received"] += 1
        return list(self._came_through(now, port, at))

    def _came_through(self, now: float, port: _Port, at: End) -> list[Link]:
        """A frame of `port` has arrived at another port."""
        other = self._ports[at]
        if other.to is None and now - other.sent_at > _ANSWER_S:
            self._schedule(now, other, regular=False)
        if port.to == at:
            port.unseen = port.lost = 0
            return []
        before = self._heard.get(at)
        if any(one.to is not None and one.unseen < 2 for one in (port, before) if one is not None):
            # More than two ports on a shared medium; if a cable was moved, its old port would have missed a frame.
            self.counts["shared"] += 1
            return []
        changed = self._lose(port, "its link was moved")
        if before is not None:
            changed += self._lose(before, "its link was moved")
        port.to, port.unseen, port.lost = at, 0, 0
        self._heard[at] = port
        return [*changed, Link(True, port.end, at)]

    def _is_lost(self, port: _Port) -> bool:
        """Whether the last frame of a port was not received although both switches have responded to later messages."""
        if port.to is None or not port.unseen:
            return False
        return all(self._proofs.cover(dpid, port.sent_at) for dpid in (port.end[0], port.to[0]))

    def _of(self, dpid: int) -> list[_Port]:
        return [port for end, port in self._ports.items() if end[0] == dpid]

    def _lose(self, port: _Port, why: str) -> list[Link]:
        if port.to is None:
            return []
        target, port.to = port.to, None
        del self._heard[target]
        return [Link(False, port.end, target, why)]

    def _foreign(self, who: str, at: End) -> list[Link | ForeignController]:
        if who not in self._foreign_frames and len(self._foreign_frames) >= _MOST_FOREIGN:
            return []
        self._foreign_frames[who] += 1
        return [ForeignController(who, at)] if self._foreign_frames[who] == _FOREIGN else []

    def _count(self, what: str) -> list[Link | ForeignController]:
        self.counts[what] += 1
        return []

    def _schedule(self, at: float, port: _Port, *, regular: bool) -> None:
        self._scheduled += 1
        heapq.heappush(self._due, (at, self._scheduled, port, regular))
