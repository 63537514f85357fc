"""Listen addresses as typed: `127.0.0.1:6653`, `[::1]:6653`, `:19466` for all addresses of the machine."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
from dataclasses import dataclass

from .errors import ControllerError


@dataclass(frozen=True)
class Address:
    """An IP address, empty for all of the machine, and a TCP port, 0 for any free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, option: str, usual: int) -> Address:
        """Parse the value of `option`; `usual` is the port to suggest in error messages.

        Raises `ControllerError` if the value is not an address with a port.
        """
        host, colon, port = text.rpartition(":")
        if not colon:
            host, port = "", text
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            what = f"`{text}` has no port" if not colon and not port.isdigit() else f"`{port}` is not a valid TCP port"
            raise ControllerError(
                f"{option}: {what} (0 to 65535)", f"{option} {_example(host if colon else text, usual)}"
            )
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if bare:
            try:
                version = ipaddress.ip_address(bare).version
            except ValueError:
                raise ControllerError(
                    f"{option}: `{host}` is not a valid IP address",
                    f"{option} 127.0.0.1:{port}, or {option} :{port} for all",
                ) from None
            if version == 6 and bare == host:
                raise ControllerError(
                    f"{option}: an IPv6 address with a port needs brackets", f"{option} '[{bare}]:{port}'"
                )
        return cls(bare, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def as_target(self, scheme: str = "tcp") -> str:
        """Target for `ovs-vsctl set-controller`; a placeholder stands for the wildcard address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.host in ("", "0.0.0.0", "::"):
            host = "ADDRESS-OF-THIS-MACHINE"
        return f"{scheme}:{host}:{self.port}"

    def refused(self, error: OSError, option: str) -> ControllerError:
        """The error for an address that cannot be listened on."""
        if error.errno == errno.EADDRINUSE:
            return ControllerError(
                f"{option}: {self} is already in use by another program",
                f"stop that program (`ss -ltnp 'sport = :{self.port}'` shows it), or {option} with another port",
            )
        if error.errno == errno.EADDRNOTAVAIL:
            return ControllerError(
                f"{option}: {self.host} is not an address of this machine",
                f"{option} :{self.port} for all its addresses (`ip address` lists them)",
            )
        if error.errno == errno.EACCES:
            return ControllerError(
                f"{option}: only root may listen on port {self.port}", f"{option} with a port above 1023"
            )
        reason = os.strerror(error.errno) if error.errno else str(error)
        return ControllerError(f"{option}: cannot listen on {self}: {reason}")


def _example(host: str, port: int) -> str:
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return f"127.0.0.1:{port}"
    return f"'[{address}]:{port}'" if address.version == 6 else f"{address}:{port}"


def address_of(transport: asyncio.BaseTransport) -> tuple[str, str]:
    """The peer's address, and its address with the port as text."""
    name = transport.get_extra_info("peername")
    if not isinstance(name, tuple):
        return ("an unknown address",) * 2
    host = str(name[0])
    return host, f"[{host}]:{name[1]}" if ":" in host else f"{host}:{name[1]}"
