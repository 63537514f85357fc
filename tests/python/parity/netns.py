"""Network namespaces of a test network: commands, sockets and settings inside them."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from weft.emulation.namespace import entered


def run(*words: str, text: str | None = None) -> str:
    """The standard output of a command, which must succeed."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}\n{text or ''}")
    return done.stdout


class Netns:
    """A network namespace, by its name under /run/netns."""

    def __init__(self, name: str) -> None:
        """Create it, with only the loopback interface, which is up."""
        self.name = name
        run("ip", "netns", "add", name)
        self.ip("link set lo up")

    @property
    def path(self) -> str:
        """The file that other programs enter it by."""
        return f"/run/netns/{self.name}"

    def entered(self) -> AbstractContextManager[None]:
        """Within this block the calling thread is in the namespace; sockets created there stay in it."""
        return entered(self.path)

    def socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        """A socket of this namespace."""
        with self.entered():
            return socket.socket(family, kind, protocol)

    def ip(self, *commands: str) -> None:
        """Run `ip` commands in it, all in one process."""
        run("ip", "-n", self.name, "-batch", "-", text="\n".join(commands) + "\n")

    def set(self, settings: Iterable[tuple[str, object]]) -> None:
        """Write files below /proc/sys/net/ in it."""
        with self.entered():
            for name, value in settings:
                Path("/proc/sys/net", name).write_text(str(value), encoding="ascii")

    def command(self, *words: str) -> list[str]:
        """The command line that runs a command in it, with the caller's mounts."""
        return ["nsenter", f"--net={self.path}", "--", *words]


def wire(a: tuple[Netns, str], b: tuple[Netns, str], *, mtu: int = 1500, up: bool = True) -> None:
    """A link between two namespaces, by default with both ends up."""
    a[0].ip(f"link add name {a[1]} mtu {mtu} type veth peer name {b[1]} mtu {mtu} netns {b[0].name}")
    if up:
        a[0].ip(f"link set dev {a[1]} up")
        b[0].ip(f"link set dev {b[1]} up")
