"""Fake daemons: a fat-tree's control sockets as in docs/switchd.md, without a data plane.

They store requests and answer as a test wants, so that every failure between a control plane and its switches can be
produced without root. Tests with real daemons are in `tests/python/emulation`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from weft.tag_forward.fabric import End, FatTree


def _key(rule: dict[str, Any]) -> tuple[str, str]:
    return rule["matches"]["source"], rule["matches"]["destination"]


def _in_notice(heard: dict[str, Any] | None) -> dict[str, Any] | None:
    """A neighbour as in a notice."""
    return None if heard is None else {"switch": heard["switch_id"], "port": heard["port"]}


class Daemon:
    """One switch."""

    def __init__(self, tree: FatTree, switch: str, number: int) -> None:
        self.switch, self.mode, self.id = switch, "tag-forward", f"{number + 1:016x}"
        self.gates: dict[str, Any] | None = None
        self.rules: dict[tuple[str, str], dict[str, Any]] = {}
        self.groups: dict[int, list[dict[str, int]]] = {}
        self.asked: list[str] = []
        self.listens = 0
        self.refuses: str | None = None
        self.deaf = False
        self.ports = [self._port(tree, end) for end in tree.ports(switch)]
        self.followers: list[asyncio.Queue[dict[str, Any]]] = []

    @staticmethod
    def _port(tree: FatTree, end: End) -> dict[str, Any]:
        other = tree.leads_to[end]
        port = {"port": end.port, "interface": str(end), "role": "host", "up": True, "neighbour": None}
        if not tree.is_host(other.node):
            id_ = f"{tree.switches.index(other.node) + 1:016x}"
            port |= {"role": "fabric", "neighbour": {"switch_id": id_, "port": other.port}}
        return port

    def answer(self, method: str, what: str, body: Any) -> tuple[int, Any]:
        """The answer to a request."""
        self.asked.append(f"{method} {what}")
        if self.refuses is not None and method != "GET":
            return 409, {"error": self.refuses}
        match method, what.partition("?")[0]:
            case "GET", "status":
                return 200, {
                    "mode": self.mode,
                    "switch_id": self.id,
                    "ports": len(self.ports),
                    "hello_hold_ms": 3000,
                }
            case "GET", "ports":
                self.listens -= 1
                listening = [port | {"role": "listening", "neighbour": None} for port in self.ports]
                return 200, listening if self.listens >= 0 else self.ports
            case "GET", "gates":
                return 200, self.gates or {"width": "narrow", "down_divisor": 0, "up_divisor": 0, "gates": []}
            case "PUT", "gates":
                self.gates = body
                return 200, {"gates": len(body["gates"])}
            case "GET", "flows":
                groups = [{"id": id_, "ways": ways} for id_, ways in self.groups.items()]
                return 200, {"total": len(self.rules), "rules": self._counted(), "groups": groups}
            case "PUT", "flows":
                return 200, self._replace(body)
            case "POST", "flows":
                return self._change(body["changes"])
        return 404, {"error": "there is no such path"}

    def _counted(self) -> list[dict[str, Any]]:
        return [rule | {"packets": 0, "bytes": 0} for rule in self.rules.values()]

    def _replace(self, body: Any) -> dict[str, int]:
        wanted = {_key(rule): rule for rule in body["rules"]}
        counts = {
            "added": sum(match not in self.rules for match in wanted),
            "replaced": sum(match in self.rules and self.rules[match] != rule for match, rule in wanted.items()),
            "removed": sum(match not in wanted for match in self.rules),
            "kept": sum(self.rules.get(match) == rule for match, rule in wanted.items()),
        }
        self.rules, self.groups = wanted, {group["id"]: group["ways"] for group in body["groups"]}
        return counts

    def _change(self, changes: list[dict[str, Any]]) -> tuple[int, Any]:
        for change in changes:
            if "add" in change:
                key = _key(change["add"])
                if key in self.rules:
                    return 409, {"error": f"change 1: there is a rule for {key}", "at": 1}
                self.rules[key] = change["add"]
            else:
                self.groups[change["set_group"]["id"]] = change["set_group"]["ways"]
        return 200, {"changes": len(changes)}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer a request."""
        if self.deaf:
            await asyncio.Event().wait()
        what = request.path_qs.removeprefix("/v1/")
        if what == "notices":
            return await self._tell(request)
        status, said = self.answer(request.method, what, await request.json() if request.can_read_body else None)
        return web.json_response(said, status=status)

    async def _tell(self, request: web.Request) -> web.StreamResponse:
        notices: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for port in self.ports:
            notices.put_nowait({"what": "port", **port, "neighbour": _in_notice(port["neighbour"])})
        self.followers.append(notices)
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(json.dumps(await notices.get()).encode() + b"\n")
        finally:
            self.followers.remove(notices)


class Daemons:
    """The daemons of a whole fat-tree, on sockets in a directory, answering on their own thread."""

    def __init__(self, tree: FatTree, directory: Path) -> None:
        self.tree, self.directory = tree, directory
        self.by_name = {switch: Daemon(tree, switch, number) for number, switch in enumerate(tree.switches)}
        self._runners: dict[str, web.AppRunner] = {}
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        for switch in self.by_name:
            self.start(switch)

    def __getitem__(self, switch: str) -> Daemon:
        return self.by_name[switch]

    def start(self, switch: str) -> None:
        """Start a daemon."""

        async def start() -> None:
            app = web.Application(client_max_size=1 << 30)
            app.router.add_route("*", "/v1/{what:.*}", self.by_name[switch].serve)
            runner = self._runners[switch] = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
            await runner.setup()
            await web.UnixSite(runner, str(self.directory / f"{switch}.sock")).start()

        self._run(start())

    def stop(self, switch: str) -> None:
        """Stop a daemon and close its connections; it keeps its state."""

        async def stop() -> None:
            await self._runners.pop(switch).cleanup()
            (self.directory / f"{switch}.sock").unlink(missing_ok=True)

        self._run(stop())

    def notice(self, switch: str, **values: Any) -> None:
        """Have a daemon send a notice."""

        async def tell() -> None:
            if values["what"] == "port":
                self.by_name[switch].ports[values["port"]] |= values
                values["neighbour"] = _in_notice(values["neighbour"])
            for follower in self.by_name[switch].followers:
                follower.put_nowait(values)

        self._run(tell())

    def tell(self, follower: asyncio.Queue[dict[str, Any]], line: dict[str, Any]) -> None:
        """Send a line to one follower."""
        self._loop.call_soon_threadsafe(follower.put_nowait, line)

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def close(self) -> None:
        """Stop all daemons."""
        for switch in list(self._runners):
            self.stop(switch)
        self._loop.call_soon_threadsafe(self._loop.stop)


@contextmanager
def running(tree: FatTree, directory: Path) -> Iterator[Daemons]:
    """The daemons of a fat-tree while the block runs."""
    daemons = Daemons(tree, directory)
    try:
        yield daemons
    finally:
        daemons.close()
