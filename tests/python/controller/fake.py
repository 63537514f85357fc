"""A fake switch and a fake core, with a controller between them on loopback."""

from __future__ import annotations

import asyncio
import json
import struct
from collections import defaultdict
from contextlib import asynccontextmanager

from waiting import until_async
from weft.controller.address import Address
from weft.controller.service import Service
from weft.controller.settings import Settings

HEADER = struct.Struct("!BBHI")
FRAME = bytes.fromhex("020000000002 020000000001 0800") + bytes(60)
HELLO, ERROR, ECHO, ECHO_REPLY, FEATURES, SET_CONFIG, PACKET_OUT, FLOW_MOD = 0, 1, 2, 3, 5, 9, 13, 14
MULTIPART, BARRIER, ROLE = 18, 20, 24
PACKET_IN, FLOW_REMOVED, BARRIER_REPLY = 10, 11, 21


OWN = 0x5745_0000_0000_0009
LLDP = b"\x88\xcc"


def packet_out(port, frame=FRAME):
    """A message of the core that requests sending a frame."""
    body = struct.pack("!IIH6xHHIH6x", 0xFFFFFFFF, 0xFFFFFFFD, 16, 0, 16, port, 0) + frame
    return HEADER.pack(4, PACKET_OUT, HEADER.size + len(body), 2**31) + body


class Core:
    """A core that gives scripted answers and records its calls.

    `answers` are sent on a call, once each, by its name: a method's, or `packet_in`, `confirmed` and `rule_removed` for
    messages that it parses itself.
    """

    def __init__(self):
        self.recorded = []
        self.answers = defaultdict(list)
        self.left_alone = set()
        self.deadline = float("inf")
        self.differences = []
        self.took = []
        self.trouble = []
        self.offended = []

    def _call(self, name, *arguments):
        self.recorded.append((name, *arguments))
        return self.answers[name].pop(0) if self.answers[name] else []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda now, *arguments: self._call(name, *arguments)

    def received(self, now, dpid, data, place):
        """Parses packet-ins, barrier replies and removals of its own rules."""
        sends = []
        while len(data) >= place + HEADER.size:
            _, kind, length, xid = HEADER.unpack_from(data, place)
            body, end = data[place + HEADER.size : place + length], place + length
            if kind not in (PACKET_IN, FLOW_REMOVED, BARRIER_REPLY) or end > len(data):
                break
            if kind == PACKET_IN and len(body) < 34:
                return end, sends, "it is too short"
            if kind == PACKET_IN:
                (in_port,), frame = struct.unpack_from("!I", body, 24), body[34:]
                if frame[12:14] == LLDP:
                    return end, sends, (in_port, frame)
                sends += self._call("packet_in", dpid, in_port, frame)
            elif kind == BARRIER_REPLY:
                sends += self._call("confirmed", dpid, xid)
            else:
                (cookie,) = struct.unpack_from("!Q", body)
                if cookie >> 48 != OWN >> 48:
                    break
                sends += self._call("rule_removed", dpid, cookie)
            place = end
        return place, sends, None

    def switch_down(self, now, dpid, left_alone):
        """Records which switches are left alone."""
        (self.left_alone.add if left_alone else self.left_alone.discard)(dpid)
        return self._call("switch_down", dpid)

    def frames(self, frames):
        """The packet-outs that send these frames."""
        return [(dpid, packet_out(port, frame)) for dpid, port, frame in frames]

    def set_ups(self):
        """The scripted answer, once."""
        took, self.took = self.took, []
        return took

    def troubles(self):
        """The scripted answer, once."""
        trouble, self.trouble = self.trouble, []
        return trouble

    def offences(self):
        """The scripted answer, once."""
        offended, self.offended = self.offended, []
        return offended

    def installing(self):
        """A fixed number."""
        return 4

    def next_deadline(self):
        """Never, unless scripted."""
        return self.deadline

    def counters(self):
        """A few counters."""
        return {"packet_ins_received": 3, "frames_without_path": 2, "connections_now": 1}

    def show(self, what, limit=1000):
        """A snapshot with one switch."""
        self.recorded.append(("show", what))
        rows = {"switches": [{"dpid": 1, "name": "s1", "up": True, "ports": [], "stations": 0}]}.get(what, [])
        return json.dumps({what: rows[:limit], "total": len(rows), "differences": self.differences})

    def calls(self, name):
        """The arguments of a method's calls."""
        return [call[1:] for call in self.recorded if call[0] == name]


async def opened(address, **more):
    """The reader and writer of a connection to a server, with more arguments for `asyncio.open_connection`."""
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port), **more)


class Switch:
    """A datapath on one TCP connection, over TLS with a `context`.

    Received messages are in `got`, as pairs of type and message.
    """

    def __init__(self, dpid, ports=(1, 2, 3), cookies=(), *, version=4, barriers=True, slave=False, context=None):
        self.context = context
        self.dpid, self.ports, self.cookies, self.version = dpid, ports, cookies, version
        self.barriers, self.slave = barriers, slave
        self.got = []
        self.open = False

    async def connect(self, address):
        """Connect."""
        self.reader, self.writer = await opened(address, ssl=self.context)
        self.open = True
        self.task = asyncio.ensure_future(self._serve())
        self.send(HELLO, b"", 0)
        return self

    def send(self, kind, body=b"", xid=0, version=None):
        """Send a message."""
        length = HEADER.size + len(body)
        self.writer.write(HEADER.pack(self.version if version is None else version, kind, length, xid) + body)

    def kinds(self, *wanted):
        """Types of received messages, restricted to `wanted`."""
        return [kind for kind, _ in self.got if kind in wanted]

    def bodies(self, kind):
        """Received messages of a type, without their headers."""
        return [data[HEADER.size :] for what, data in self.got if what == kind]

    def xids(self, kind):
        """The transaction ids of messages of a type."""
        return [HEADER.unpack_from(data)[3] for what, data in self.got if what == kind]

    def packet_outs(self):
        """Frames received in packet-outs, as (in_port, port, frame)."""
        found = []
        for body in self.bodies(PACKET_OUT):
            _, in_port, length = struct.unpack_from("!IIH", body)
            found.append((in_port, struct.unpack_from("!I", body, 20)[0], body[16 + length :]))
        return found

    def packet_in(self, in_port=3, frame=FRAME, cookie=0x5745_0000_0000_0002):
        """Send a frame in a packet-in."""
        match = struct.pack("!HHHBBI", 1, 12, 0x8000, 0, 4, in_port) + bytes(4)
        head = struct.pack("!IHBBQ", 0xFFFFFFFF, len(frame), 0, 0, cookie)
        self.send(10, head + match + bytes(2) + frame)

    def port_status(self, number, *, up, gone=False):
        """Report a port change."""
        self.send(12, struct.pack("!B7x", 1 if gone else 2) + self._port(number, up))

    def error(self, kind, code, xid, data=b""):
        """Reject a message with an error."""
        self.send(ERROR, struct.pack("!HH", kind, code) + data.ljust(64, b"\0"), xid)

    def rule_removed(self, cookie, reason=0):
        """Report the removal of a rule."""
        body = struct.pack("!QHBBIIHHQQ", cookie, 1, reason, 0, 1, 0, 10, 0, 5, 500)
        self.send(11, body + struct.pack("!HH4x", 1, 4))

    async def close(self):
        """Disconnect."""
        self.writer.close()
        await self.task

    def _port(self, number, up=True):
        name, address = f"s{self.dpid}-eth{number}", bytes([2, 0, 0, 0, self.dpid, number & 0xFF])
        return struct.pack("!I4x6s2x16sIIIIIIII", number, address, name.encode(), 0, 0 if up else 1, *[0] * 6)

    async def _serve(self):
        try:
            while True:
                head = await self.reader.readexactly(HEADER.size)
                _, kind, length, xid = HEADER.unpack(head)
                body = await self.reader.readexactly(length - HEADER.size)
                self.got.append((kind, head + body))
                self._answer(kind, xid, body)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.open = False
            self.writer.close()

    def _answer(self, kind, xid, body):
        if kind == ECHO:
            self.send(ECHO_REPLY, body, xid)
        elif kind == FEATURES:
            self.send(6, struct.pack("!QIBB2xII", self.dpid, 0, 254, 0, 0, 0), xid)
        elif kind == BARRIER and self.barriers:
            self.send(21, b"", xid)
        elif kind == ROLE:
            (generation,) = struct.unpack("!8xQ", body)
            self.send(25, struct.pack("!I4xQ", 3 if self.slave else 2, generation), xid)
        elif kind == MULTIPART:
            what = struct.unpack_from("!H", body)[0]
            if what == 13:
                # In two parts, with the port of the switch itself.
                first, rest = self.ports[:1], [*self.ports[1:], 0xFFFFFFFE]
                self.send(19, struct.pack("!HH4x", what, 1) + b"".join(map(self._port, first)), xid)
                self.send(19, struct.pack("!HH4x", what, 0) + b"".join(map(self._port, rest)), xid)
            elif what in (1, 2):
                cookie, mask = struct.unpack_from("!QQ", body, 24)
                found = [one for one in self.cookies if one & mask == cookie & mask]
                if what == 2:
                    self.send(19, struct.pack("!HH4xQQI4x", what, 0, 0, 0, len(found)), xid)
                    return
                rules = [
                    struct.pack("!HBxIIHHHH4xQQQHH4x", 56, 0, 1, 0, 1, 0, 0, 0, cookie, 0, 0, 1, 4) for cookie in found
                ]
                self.send(19, struct.pack("!HH4x", what, 0) + b"".join(rules), xid)
            else:
                texts = struct.pack("256s256s256s32s256s", b"Nicira", b"Open vSwitch", b"3.1", b"", b"")
                self.send(19, struct.pack("!HH4x", what, 0) + texts, xid)


class Running:
    """A controller on loopback with a fake core."""

    def __init__(self, service, core, address):
        self.service, self.core, self.address = service, core, address
        self.switches = []

    async def switch(self, *arguments, ready=True, **more):
        """Connect a switch, and wait until it is ready."""
        switch = await Switch(*arguments, **more).connect(self.address)
        self.switches.append(switch)
        if ready:
            await until(lambda: any(call[0] == switch.dpid for call in self.core.calls("switch_up")))
        return switch


async def until(condition):
    """Wait for the state in the line that calls this."""
    await until_async("what the test waits for", condition)


@asynccontextmanager
async def running(tmp_path, **settings):
    """A controller that listens on a free port."""
    core = Core()
    given = {"listen": Address("127.0.0.1", 0), "control": tmp_path / "control.sock", **settings}
    service = Service(Settings(**given), lambda: core, asyncio.get_running_loop())
    address = await service.listen()
    network = Running(service, core, address)
    try:
        yield network
    finally:
        service.close()
        for switch in network.switches:
            await switch.close()
