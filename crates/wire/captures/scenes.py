"""Kernel connections between two namespaces, some over a network that drops or changes frames."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

import tcp_options
from captures.acts import (
    PORT,
    SERVER,
    STRANGER,
    STRANGER_SEQUENCE,
    alias,
    asked,
    checksummed,
    end,
    joined,
    lose,
    opened,
    opened_by_data,
    talk,
)
from captures.by_hand import spoken
from captures.conclusions import ACK, SYN, Segment
from captures.library import Capture, Frame, Scene, capture
from captures.network import Network, Seen, Verdict, address

MP_CAPABLE_SYN = dict.fromkeys(("sender_key", "receiver_key", "data_length", "checksum")) | {"version": 1, "flags": 1}


def captured(name: str, description: str, network: Network) -> Capture:
    """The capture of a network."""
    start = network.seen[0].at
    frames: list[Frame] = []
    for seen in network.seen:
        at = round((seen.at - start) * 1e6)
        lost = {"lost": True} if seen.lost else {}
        frames.append({"at_us": at, "from": seen.host, "path": seen.path, **lost, "frame": seen.frame.hex()})
    return capture(name, description, frames, "captured")


SCENES: list[Scene] = []
"""All scenes, in the order of the file."""


def scene(
    name: str, description: str, sysctls: dict[str, str] | None = None
) -> Callable[[Callable[[Network], None]], Scene]:
    """Turn the acts of a function on a new network into a scene, which returns the capture."""

    def add(act: Callable[[Network], None]) -> Scene:
        def play() -> Capture:
            with Network(sysctls or {}) as network:
                act(network)
                return captured(name, description, network)

        SCENES.append(play)
        return play

    return add


@scene(
    "three joins by the client",
    "A connection from one interface; once data is acknowledged, the client joins three subflows from further "
    "addresses of that interface, under the server's token. All four belong to one connection.",
)
def three_joins(network: Network) -> None:
    """The ordinary case."""
    for last in (11, 12, 13):
        alias(network, "client", last, "subflow")
    client, server = opened(network)
    talk(network, client, server)
    joined(network, 3)
    end(network, client, server)


@scene(
    "joins by the server",
    "The client announces an address and port (ADD_ADDR, echoed), then another; the server joins a subflow to "
    "each, under the client's token: only the connection's third ACK has the key from which it is derived.",
)
def joins_by_the_server(network: Network) -> None:
    """Joins towards the client, under its token."""
    alias(network, "client", 11, "port", "9001", "signal")
    network.endpoint("client", "add", address("client", 1), "dev", "eth1", "port", "9002", "signal")
    client, server = opened(network)
    talk(network, client, server)
    talk(network, client, server)
    joined(network, 2)


@scene(
    "an address announced, made a backup and removed, and a connection closed at once",
    "The server announces its second interface (ADD_ADDR, echoed); the client joins over the second path; the "
    "server makes that subflow a backup (MP_PRIO) and removes the address (REMOVE_ADDR); the client aborts "
    "the connection (MP_FASTCLOSE and MP_TCPRST in a reset).",
)
def announced_address(network: Network) -> None:
    """Every option about addresses, and a fast close."""
    network.endpoint("server", "add", address("server", 1), "dev", "eth1", "signal")
    client, server = opened(network)
    talk(network, client, server)
    network.endpoint("server", "change", "id", "1", "backup")
    network.settle()
    network.endpoint("server", "delete", "id", "1")
    network.settle()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    network.settle()


@scene(
    "joins to other ports",
    "The server announces a second port of its first address, and one of its second interface (ADD_ADDR with "
    "port, echoed); the client joins a subflow to each. They differ from the first in ports only, or in all.",
)
def another_port(network: Network) -> None:
    """Joins between the same addresses."""
    network.endpoint("server", "add", address("server", 0), "dev", "eth0", "port", "9001", "signal")
    network.endpoint("server", "add", address("server", 1), "dev", "eth1", "port", "9002", "signal")
    client, server = opened(network)
    talk(network, client, server)


@scene(
    "two connections at the same time",
    "Two connections between the same hosts to the same port, each with a join: only tokens tell the joins apart.",
)
def two_connections(network: Network) -> None:
    """Two connections between the same hosts at the same time."""
    alias(network, "client", 11, "subflow")
    listener = network.listen("server", PORT)
    clients = [network.connect("client", (address("server", 0), PORT)) for _ in range(2)]
    network.settle()
    for number, client in enumerate(clients):
        client.send(b"request %d" % number)
    network.settle()
    listener.close()


@scene(
    "lost and repeated SYNs",
    "The network loses the first SYN of the connection and that of its join; both are repeated after a second, "
    "with the same sequence number (the join with the same random number): one connection with one join.",
)
def lost_syns(network: Network) -> None:
    """Every SYN is lost once."""
    alias(network, "client", 11, "subflow")
    network.meddler = lose(
        lambda segment: segment.opens and segment.option("mp_capable") is not None,
        lambda segment: segment.opens and segment.option("mp_join") is not None,
    )
    client, server = opened(network, quiet=1.3)
    talk(network, client, server, quiet=1.3)


@scene(
    "lost and repeated SYN+ACKs and third ACKs",
    "The network loses the first SYN+ACK and the first third ACK, of the connection and of its join. They are "
    "repeated with the same keys and HMACs: one connection with one join.",
)
def lost_answers(network: Network) -> None:
    """SYN+ACKs and third ACKs are lost once."""
    alias(network, "client", 11, "subflow")
    network.meddler = lose(
        lambda segment: segment.grants and segment.option("mp_capable") is not None,
        lambda segment: not segment.flags & SYN and segment.option("mp_capable") is not None,
        lambda segment: segment.grants and segment.option("mp_join") is not None,
        lambda segment: not segment.flags & SYN and segment.option("mp_join") is not None,
    )
    client, server = opened_by_data(network)
    talk(network, client, server, quiet=1.3)


@scene(
    "a join with an unknown token",
    "Besides an ordinary connection, a SYN (by hand) from another address joins under a token that the server "
    "does not know; the server resets it (MP_TCPRST).",
)
def unknown_token(network: Network) -> None:
    """A join without a connection."""
    client, server = opened(network)
    talk(network, client, server)
    network.neighbour("server", STRANGER[1], "client", 0)
    join = {"option": "mp_join", "segment": "syn", "backup": False, "address_id": 1}
    network.inject("client", 0, asked([{**join, "token": "00c0ffee", "nonce": "01020304"}]))
    network.settle()


@scene(
    "a forged join",
    "A stranger (by hand) joins under the token of a connection; the server answers, and resets the subflow "
    "when the third ACK has the wrong HMAC. The connection is not affected.",
)
def forged_join(network: Network) -> None:
    """A join by a host that knows the token but not the keys."""
    client, server = opened(network)
    talk(network, client, server)
    network.neighbour("server", STRANGER[1], "client", 0)
    token = capture("", "", [{"frame": seen.frame.hex()} for seen in network.seen], "")["connections"][0]["server"][
        "token"
    ]
    join = {"option": "mp_join", "segment": "syn", "backup": False, "address_id": 1}
    network.inject("client", 0, asked([{**join, "token": token, "nonce": "01020304"}]))
    network.settle()
    granted = Segment.read(network.seen[-1].frame)
    assert granted.grants
    numbers = (STRANGER_SEQUENCE + 1, granted.sequence + 1, ACK)
    confirmation = {"option": "mp_join", "segment": "ack", "hmac": "a5" * 20}
    network.inject("client", 0, spoken(STRANGER, SERVER, numbers, [confirmation]))
    network.settle()


@scene(
    "Multipath TCP refused by the listener",
    "The client asks for Multipath TCP (MP_CAPABLE); the listener speaks TCP only and answers without: from "
    "then on it is a connection of plain TCP.",
)
def refused(network: Network) -> None:
    """A listener that speaks TCP only."""
    client, server = opened(network, listener_mptcp=False)
    talk(network, client, server)
    end(network, client, server)


@scene(
    "Multipath TCP taken out on the way",
    "Behind the first switch a middlebox puts NOPs in place of the SYN's MP_CAPABLE (the frames are those "
    "before it): the listener answers without, and the connection is one of plain TCP.",
)
def taken_out(network: Network) -> None:
    """A middlebox that does not support the option."""

    def meddle(seen: Seen) -> Verdict:
        option = tcp_options.write([{"option": "mp_capable", **MP_CAPABLE_SYN}])
        return checksummed(seen.frame.replace(option, b"\1" * len(option)))

    network.meddler = meddle
    client, server = opened(network)
    talk(network, client, server)


@scene(
    "Multipath TCP given up by the client",
    "The network loses every SYN with MP_CAPABLE; the client repeats it, and finally without the option but "
    "with the same sequence number: the connection is one of plain TCP.",
)
def given_up(network: Network) -> None:
    """No SYN with MP_CAPABLE gets through."""
    network.meddler = lambda seen: None if Segment.read(seen.frame).said else seen.frame
    client, server = opened(network, quiet=4.5)
    talk(network, client, server)


@scene(
    "version 0 refused by a listener of version 1",
    "The client (by hand) asks for version 0, with its key in the SYN; Linux speaks version 1 only and answers "
    "without an option: from then on it is a connection of plain TCP.",
)
def version_0(network: Network) -> None:
    """A listener that speaks version 1 only."""
    network.listen("server", PORT)
    network.neighbour("server", STRANGER[1], "client", 0)
    capable = {"option": "mp_capable", "version": 0, "flags": 0x81, "sender_key": "0123456789abcdef"}
    absent = {"receiver_key": None, "data_length": None, "checksum": None}
    network.inject("client", 0, asked([{**capable, **absent}]))
    network.settle()
    granted = Segment.read(network.seen[-1].frame)
    network.inject("client", 0, spoken(STRANGER, SERVER, (STRANGER_SEQUENCE + 1, granted.sequence + 1, ACK), []))
    network.settle()


@scene(
    "addresses and ports used again",
    "A connection is aborted (MP_FASTCLOSE), and the next has the same addresses and ports: it has "
    "other keys, its join another token, and the old token is unused.",
)
def ports_again(network: Network) -> None:
    """The same addresses and ports twice."""
    alias(network, "client", 11, "subflow")
    listener = network.listen("server", PORT)
    for joins in (1, 2):
        client = network.connect("client", (address("server", 0), PORT), port=40000)
        network.settle()
        server, _ = listener.accept()
        network.sockets.append(server)
        talk(network, client, server)
        joined(network, joins)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        network.settle()


@scene(
    "IPv6",
    "A connection over IPv6; the client joins a subflow from a further address, and announces another with a "
    "port (ADD_ADDR, echoed), which the server joins.",
    sysctls={"ipv4.tcp_timestamps": "0"},
)
def ipv6(network: Network) -> None:
    """Over IPv6; no header has room for both timestamps and an announcement with a port."""
    family = socket.AF_INET6
    alias(network, "client", 11, "port", "9001", "signal", family=family)
    alias(network, "client", 12, "subflow", family=family)
    client, server = opened(network, family=family)
    talk(network, client, server)
    talk(network, client, server)
    end(network, client, server)


@scene(
    "IPv6 over two paths",
    "A connection over IPv6; the server announces its second interface (ADD_ADDR, echoed), and the client "
    "joins over the second path.",
)
def ipv6_paths(network: Network) -> None:
    """Over IPv6 and two paths."""
    family = socket.AF_INET6
    network.endpoint("server", "add", address("server", 1, family), "dev", "eth1", "signal")
    client, server = opened(network, family=family)
    talk(network, client, server)


@scene(
    "checksums, one of them wrong",
    "Both ends ask for checksums; one join. Behind the first switch a middlebox then changes data (the frames "
    "are those before it), and the receiver finds the checksum wrong: it resets that subflow, with MP_FAIL.",
    sysctls={"mptcp.checksum_enabled": "1"},
)
def checksums(network: Network) -> None:
    """Checksums, and a wrong one."""
    alias(network, "client", 11, "subflow")
    client, server = opened(network)
    talk(network, client, server)
    talk(network, client, server)
    network.meddler = lambda seen: checksummed(seen.frame.replace(b"right", b"wrong"))
    client.send(b"this is right")
    network.settle()


@scene(
    "a wrong checksum on the only subflow",
    "As before without a join: the receiver reports it (MP_FAIL) and continues with plain TCP, and so does the "
    "sender, after an infinite mapping.",
    sysctls={"mptcp.checksum_enabled": "1"},
)
def wrong_checksum_alone(network: Network) -> None:
    """A wrong checksum without another subflow."""
    client, server = opened(network)
    talk(network, client, server)
    network.meddler = lambda seen: checksummed(seen.frame.replace(b"right", b"wrong"))
    client.send(b"this is right")
    network.settle()
    client.send(b"and more")
    network.settle()


@scene("plain TCP", "A connection without Multipath TCP.")
def plain(network: Network) -> None:
    """Plain TCP."""
    listener = network.listen("server", PORT, mptcp=False)
    client = network.connect("client", (address("server", 0), PORT), mptcp=False)
    network.settle()
    server, _ = listener.accept()
    network.sockets.append(server)
    talk(network, client, server)
    end(network, client, server)
