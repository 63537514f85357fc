"""Derives the connections of a capture from its frames: their keys and tokens, and the subflows of each.

All frames are known, so a join may belong to a connection whose keys come later. The frames are parsed with
`tcp_options.py`.
"""

from __future__ import annotations

import hmac
import socket
import struct
from dataclasses import dataclass, field
from typing import Any

import tcp_options
from tcp_options import Option

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
End = tuple[str, int]
"""An IP address and a TCP port."""


@dataclass
class Segment:
    """A TCP segment."""

    source: End
    destination: End
    flags: int
    sequence: int
    options: list[Option] | None
    """None if one of them is malformed."""

    @classmethod
    def read(cls, frame: bytes) -> Segment:
        """The segment in a frame without VLAN tags, IP options or extension headers."""
        if frame[12:14] == b"\x08\x00":
            family, at, (source, destination) = socket.AF_INET, 34, (frame[26:30], frame[30:34])
        else:
            family, at, (source, destination) = socket.AF_INET6, 54, (frame[22:38], frame[38:54])
        ports = struct.unpack_from("!HH", frame, at)
        ends = [(socket.inet_ntop(family, ip), port) for ip, port in zip((source, destination), ports, strict=True)]
        (sequence,) = struct.unpack_from("!I", frame, at + 4)
        try:
            options = tcp_options.read(frame[at + 20 : at + 4 * (frame[at + 12] >> 4)])
        except ValueError:
            options = None
        return cls(ends[0], ends[1], frame[at + 13], sequence, options)

    def option(self, name: str) -> Option | None:
        """Its first option of this name."""
        return next((option for option in self.options or [] if option["option"] == name), None)

    @property
    def handshake(self) -> Option | str | None:
        """Its MP_CAPABLE or MP_JOIN; "malformed" if hosts may ignore it or interpret it differently."""
        if self.options is None:
            return "malformed"
        found = [option for option in self.options if option["option"] in ("mp_capable", "mp_join")]
        if not found:
            return None
        kind = {SYN: "syn", SYN | ACK: "syn_ack", ACK: "ack"}.get(self.flags & (SYN | ACK))
        return found[0] if len(found) == 1 and kind in kinds(found[0]) else "malformed"

    @property
    def said(self) -> Option | None:
        """Its MP_CAPABLE or MP_JOIN, if valid."""
        return self.handshake if isinstance(self.handshake, dict) else None

    @property
    def opens(self) -> bool:
        """Whether it requests a connection or subflow."""
        return self.flags & (SYN | ACK) == SYN

    @property
    def grants(self) -> bool:
        """Whether it answers such a segment."""
        return self.flags & (SYN | ACK) == SYN | ACK


def kinds(option: Option) -> tuple[str, ...]:
    """The kinds of segment in which an MP_CAPABLE or MP_JOIN is allowed."""
    if option["option"] == "mp_join":
        return (option["segment"],)
    if option["receiver_key"]:
        return ("ack",)
    if option["version"] == 0:
        return ("syn", "syn_ack")
    return ("syn_ack",) if option["sender_key"] else ("syn",)


@dataclass
class Flow:
    """The handshake of a connection's first subflow, or of a join."""

    source: End
    destination: End
    sequence: int
    first: Option | None
    grant: Option | None = None
    confirmation: Option | None = None
    granted: bool = False
    frames: list[int] = field(default_factory=list)

    def take(self, segment: Segment) -> None:
        """Record the handshake of a segment of the flow."""
        said = segment.said
        if segment.grants and segment.source == self.destination:
            self.granted, self.grant = True, said or self.grant
        elif not segment.flags & SYN and segment.source == self.source and said and not self.confirmation:
            self.confirmation = said


@dataclass
class Connection:
    """A connection for which a client requested Multipath TCP."""

    flow: Flow

    @property
    def is_mptcp(self) -> bool:
        """Whether both ends agreed."""
        flow = self.flow
        both = flow.first and flow.grant and flow.confirmation
        return bool(both and flow.first["option"] == flow.grant["option"] == "mp_capable")  # type: ignore[index]

    @property
    def version(self) -> int:
        """The version agreed on, or requested."""
        said = self.flow.grant or self.flow.first
        assert said is not None
        return int(said["version"])

    def keys(self) -> tuple[str, str] | None:
        """The client's and the server's."""
        if not self.is_mptcp:
            return None
        assert self.flow.confirmation is not None
        return self.flow.confirmation["sender_key"], self.flow.confirmation["receiver_key"]

    def end(self, which: int) -> dict[str, Any]:
        """The known values of the client (0) or server (1)."""
        keys, (address, port) = self.keys(), (self.flow.source, self.flow.destination)[which]
        known = {"address": address, "port": port, "key": None, "token": None, "initial_data_sequence": None}
        if keys:
            key = keys[which]
            number = tcp_options.initial_data_sequence(key, self.version)
            known |= {"key": key, "token": tcp_options.token(key, self.version), "initial_data_sequence": number}
        return known


@dataclass
class Conclusions:
    """Values derived from a capture."""

    connections: list[dict[str, Any]]
    strays: list[dict[str, Any]]
    """Joins without a connection in the capture."""
    of_frame: list[int | None]
    """The connection of each frame."""


def conclude(frames: list[bytes]) -> Conclusions:
    """Evaluate all frames."""
    flows: dict[frozenset[End], Flow] = {}
    every: list[Flow] = []
    for number, frame in enumerate(frames):
        segment = Segment.read(frame)
        ends = frozenset((segment.source, segment.destination))
        flow = flows.get(ends)
        if segment.opens and (flow is None or flow.sequence != segment.sequence or flow.source != segment.source):
            flow = flows[ends] = Flow(segment.source, segment.destination, segment.sequence, segment.said)
            every.append(flow)
        if flow is not None:
            flow.take(segment)
            flow.frames.append(number)
    opened = [Connection(flow) for flow in every if flow.first and flow.first["option"] == "mp_capable"]
    joins = [(flow, owner(flow, opened)) for flow in every if flow.first and flow.first["option"] == "mp_join"]
    of_frame: list[int | None] = [None] * len(frames)
    connections = []
    for number, connection in enumerate(opened):
        mine = [(flow, which[1]) for flow, which in joins if which is not None and which[0] is connection]
        for flow in (connection.flow, *(flow for flow, _ in mine)):
            for frame_number in flow.frames:
                of_frame[frame_number] = number
        known = {"version": connection.version, "mptcp": connection.is_mptcp, "client": connection.end(0)}
        subflows = [described(flow, connection, to) for flow, to in mine]
        connections.append({**known, "server": connection.end(1), "subflows": subflows})
    strays = [described(flow, None, 0) for flow, which in joins if which is None]
    return Conclusions(connections, strays, of_frame)


def owner(join: Flow, connections: list[Connection]) -> tuple[Connection, int] | None:
    """The connection of a join, and the end that it was sent to: 0 for the client, 1 for the server.

    A token identifies a connection at one host; if two hosts have the same token, the address decides.
    """
    assert join.first is not None
    found = [
        (connection, which)
        for connection in connections
        for which in (0, 1)
        if connection.is_mptcp and connection.end(which)["token"] == join.first.get("token")
    ]
    there = [
        (connection, which) for connection, which in found if connection.end(which)["address"] == join.destination[0]
    ]
    return next(iter(there or found), None)


def described(join: Flow, connection: Connection | None, to: int) -> dict[str, Any]:
    """A join in the file's format; `to` is the end that it was sent to."""
    assert join.first is not None
    (from_address, from_port), (to_address, to_port) = join.source, join.destination
    grant = join.grant or {}
    return {
        "by": None if connection is None else ("server", "client")[to],
        "from": {"address": from_address, "port": from_port},
        "to": {"address": to_address, "port": to_port},
        "token": join.first["token"],
        "address_ids": [join.first["address_id"], grant.get("address_id")],
        "nonces": [join.first["nonce"], grant.get("nonce")],
        "confirmed": connection is not None and is_confirmed(join, connection, to),
        "frames": join.frames,
    }


def is_confirmed(join: Flow, connection: Connection, to: int) -> bool:
    """Whether both ends proved in a join that they have the keys."""
    keys = connection.keys()
    if not (keys and join.first and join.grant and join.confirmation):
        return False
    theirs, ours = (join.first["nonce"], join.grant["nonce"]), (keys[1 - to], keys[to])
    grant = tcp_options.join_hmac(connection.version, ours[::-1], theirs[::-1])[:16]
    confirmation = tcp_options.join_hmac(connection.version, ours, theirs)[:40]
    given = (join.grant["hmac"], join.confirmation["hmac"])
    return all(map(hmac.compare_digest, (grant, confirmation), given))
