"""Hosts that configure themselves: DHCP, SLAAC, Duplicate Address Detection."""

from __future__ import annotations

import itertools
import socket
import struct
import subprocess
import threading
import time

from waiting import until

from .cell import Cell
from .fabric import Fabric
from .frames import BROADCAST, IPV4, IPV6, REQUEST, UDP, arp, ether, icmp6, ipv4, mac, udp, v4, v6
from .netns import Netns
from .tap import CapturedFrame, Tap

_DISCOVER, _OFFER, _REQUEST, _ACK = 1, 2, 3, 5
_SERVER = ("02:dd:00:00:00:01", "10.0.200.1")
_DHCP_BOUND_MS = 200.0
_RESEND = 3.0
"""Seconds after which a client retransmits; RFC 2131 has 4, plus or minus one."""
_SLAAC_BOUND_MS = 5000.0
"""RFC 4861 and 4862: up to 1 s before the solicitation, and for each of two addresses Duplicate Address Detection,
which takes 1 s and starts within 1 s."""
_numbers = itertools.count(1)


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {}
    with _Server(fabric.spaces["h1"]) as server:
        for row, host, broadcast, check in (
            ("DHCP, server behind another leaf", "h4", False, False),
            ("DHCP, server at the same leaf", "h2", False, False),
            ("DHCP, broadcast flag", "h4", True, False),
            ("DHCP, server probes the address first", "h4", False, True),
        ):
            server.checks = check
            cells[row] = _dhcp(fabric, host, broadcast, 1000.0 if check else 0.0)
    cells["SLAAC"] = _slaac(fabric)
    cells["Duplicate Address Detection"] = _duplicate(fabric)
    cells["ARP probe of an address in use"] = _probe(fabric)
    return cells


def _message(kind: int, client: str, number: int, address: str, *, broadcast: bool, answer: bool) -> bytes:
    """A DHCP message (RFC 2131, section 2) with the options needed for an exchange."""
    body = struct.pack("!BBBBIHH", 2 if answer else 1, 1, 6, 0, number, 0, 0x8000 if broadcast else 0)
    body += v4("0.0.0.0") + v4(address if answer else "0.0.0.0") + v4(_SERVER[1] if answer else "0.0.0.0") + bytes(4)
    body += mac(client) + bytes(10) + bytes(192) + b"\x63\x82\x53\x63" + bytes([53, 1, kind])
    if kind == _REQUEST:
        body += bytes([50, 4]) + v4(address)
    if kind != _DISCOVER:
        body += bytes([54, 4]) + v4(_SERVER[1])
    if answer:
        body += bytes([51, 4]) + struct.pack("!I", 600)
    return body + b"\xff"


class _Server:
    """A DHCP server on its own thread and station, at a host's interface."""

    def __init__(self, netns: Netns) -> None:
        self._tap = Tap(netns)
        self._stop = threading.Event()
        self.checks = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._tap.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            for heard in self._tap.listen(0.01):
                frame = heard.frame
                if len(frame) < 285 or frame[12:14] != b"\x08\x00" or frame[36:38] != b"\0\x43":
                    continue
                body = frame[42:]
                number, flags = struct.unpack_from("!I", body, 4)[0], struct.unpack_from("!H", body, 10)[0]
                client = body[28:34].hex(":")
                self._answer(body[242], client, number, bool(flags & 0x8000))

    def _answer(self, kind: int, client: str, number: int, broadcast: bool) -> None:
        address = f"10.0.201.{number & 255}"
        if kind == _DISCOVER and self.checks:
            # ISC's server pings the address and listens for 1 s for an answer from its owner.
            self._tap.send(arp(REQUEST, _SERVER, ("00:00:00:00:00:00", address)))
            self._tap.listen(1.0)
        answer = _message(
            {_DISCOVER: _OFFER, _REQUEST: _ACK}[kind], client, number, address, broadcast=broadcast, answer=True
        )
        to = (BROADCAST, "255.255.255.255") if broadcast else (client, address)
        packet = ipv4(_SERVER[1], to[1], UDP, udp(answer, source=67, to=68))
        self._tap.send(ether(to[0], _SERVER[0], IPV4, packet))


def _dhcp(fabric: Fabric, host: str, broadcast: bool, more_ms: float) -> Cell:
    """Three new clients in sequence."""
    cell, times, resent = Cell(), [], 0
    for _ in range(3):
        number = next(_numbers)
        client = f"02:dc:00:00:00:{number:02x}"
        with Tap(fabric.spaces[host]) as tap:
            began = time.monotonic()
            address = ""
            for ask, answer in ((_DISCOVER, _OFFER), (_REQUEST, _ACK)):
                for attempt in range(3):
                    resent += attempt > 0
                    body = _message(ask, client, number, address or "0.0.0.0", broadcast=broadcast, answer=False)
                    packet = ipv4("0.0.0.0", "255.255.255.255", UDP, udp(body, source=68, to=67))
                    tap.send(ether(BROADCAST, client, IPV4, packet))
                    if address := _given(tap, client, number, answer):
                        break
                if not address:
                    break
            times.append((time.monotonic() - began) * 1000 if address else None)
    cell.fact("clients without an address", times.count(None), 0)
    cell.fact("retransmissions", resent, 0)
    cell.time("slowest", None if None in times else max(filter(None, times)), _DHCP_BOUND_MS + more_ms)
    return cell


def _given(tap: Tap, client: str, number: int, kind: int) -> str:
    """The offered address; empty if there is no answer in time."""
    end = time.monotonic() + _RESEND
    while time.monotonic() < end:
        for heard in tap.listen(0.005):
            if _answers(heard, client, number, kind):
                return socket.inet_ntoa(heard.frame[58:62])
    return ""


def _answers(heard: CapturedFrame, client: str, number: int, kind: int) -> bool:
    frame = heard.frame
    mine = frame[:6] in (mac(client), mac(BROADCAST)) and frame[12:14] == b"\x08\x00" and frame[36:38] == b"\0\x44"
    return mine and len(frame) > 285 and struct.unpack_from("!I", frame, 46)[0] == number and frame[284] == kind


def _addresses(netns: Netns) -> str:
    return subprocess.run(
        ["ip", "-n", netns.name, "-6", "-o", "addr", "show", "dev", "eth0"], capture_output=True, text=True, check=True
    ).stdout


def _fresh(netns: Netns, address: str) -> None:
    """A freshly started host, with the kernel's Duplicate Address Detection."""
    netns.ip("link set dev eth0 down", "addr flush dev eth0", f"link set dev eth0 address {address}")
    netns.set(
        [
            ("ipv6/conf/eth0/accept_dad", 1),
            ("ipv6/conf/eth0/dad_transmits", 1),
            ("ipv6/conf/eth0/router_solicitations", 3),
            ("ipv6/conf/eth0/addr_gen_mode", 0),
            ("ipv6/conf/eth0/accept_ra", 2),
        ]
    )


def _slaac(fabric: Fabric) -> Cell:
    """The kernel finds a router and configures an address from the advertised prefix."""
    cell, host = Cell(), fabric.spaces["newcomer"]
    router = ("02:dd:00:00:00:02", "fe80::d2")
    prefix = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 3600, 3600, 0) + v6("fd00:5:1ac::")
    body = struct.pack("!BBHII", 64, 0, 1800, 0, 0) + b"\1\1" + mac(router[0]) + prefix
    _fresh(host, "02:55:00:00:00:01")
    with Tap(fabric.spaces["h1"]) as tap:
        host.ip("link set dev eth0 up")
        began, took, solicited = time.monotonic(), None, False
        while took is None and time.monotonic() - began < 15:
            for heard in tap.listen(0.02):
                if heard.frame[12:14] == b"\x86\xdd" and heard.frame[54:55] == bytes([133]):
                    solicited = True
                    # A router may answer the soliciting host by unicast (RFC 4861, 6.2.6).
                    asker = socket.inet_ntop(socket.AF_INET6, heard.frame[22:38])
                    to = heard.frame[6:12].hex(":")
                    tap.send(ether(to, router[0], IPV6, icmp6(router[1], asker, 134, body)))
            for line in _addresses(host).splitlines():
                if "fd00:5:1ac" in line and "tentative" not in line:
                    took = (time.monotonic() - began) * 1000
        cell.fact("solicitation received", solicited, True)
        cell.time("address", took, _SLAAC_BOUND_MS)
    return cell


def _duplicate(fabric: Fabric) -> Cell:
    """A kernel detects that another host has its address, and does not use it."""
    cell, host = Cell(), fabric.spaces["newcomer"]
    _fresh(host, "02:55:00:00:00:02")
    host.ip("link set dev eth0 up")
    # The kernel probes once, and a bridge port whose carrier has just come may still be disabled then.
    fabric.notice()
    host.ip("addr add fd00::1/64 dev eth0", "addr add fd00::77/64 dev eth0")

    def found() -> dict[str, str]:
        lines = _addresses(host).splitlines()
        return {
            name: next((line for line in lines if f"{name}/64" in line), "gone") for name in ("fd00::1", "fd00::77")
        }

    def done() -> dict[str, str]:
        """The lines of both addresses, once the kernel has decided."""
        of = found()
        return of if all("tentative" not in line or "dadfailed" in line for line in of.values()) else {}

    of = until("Duplicate Address Detection ends", done, state=found)
    cell.fact("duplicate found", "dadfailed" in of["fd00::1"] or of["fd00::1"] == "gone", True)
    cell.fact("free address in use", "tentative" not in of["fd00::77"] and of["fd00::77"] != "gone", True)
    host.ip("link set dev eth0 down", "addr flush dev eth0")
    return cell


def _probe(fabric: Fabric) -> Cell:
    """RFC 5227: the owner of an address answers the probe of a new host."""
    cell, times = Cell(), []
    for at in range(3):
        prober = f"02:55:00:00:01:{at:02x}"
        with Tap(fabric.spaces["h4"]) as tap:
            sent = time.time()
            tap.send(arp(REQUEST, (prober, "0.0.0.0"), ("00:00:00:00:00:00", "10.0.0.1")))
            answers = [
                heard.at
                for heard in tap.listen(0.2)
                if heard.frame[:6] == mac(prober)
                and heard.frame[12:14] == b"\x08\x06"
                and heard.frame[28:32] == v4("10.0.0.1")
            ]
            times.append((answers[0] - sent) * 1000 if answers else None)
    cell.fact("unanswered", times.count(None), 0)
    cell.time("slowest", None if None in times else max(filter(None, times)), 5.0)
    return cell
