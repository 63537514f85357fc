"""OpenFlow over TLS: certificates on both sides, and error messages for failed handshakes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .address import address_of
from .connection import Connection
from .errors import ControllerError

HANDSHAKE_S = 10.0
"""Timeout of the TLS handshake in seconds."""


@dataclass(frozen=True)
class Tls:
    """The TLS files, PEM: the controller's private key and certificate, and the CAs that sign the switches'."""

    key: Path
    certificate: Path
    authority: Path

    @classmethod
    def of(cls, key: Path | None, certificate: Path | None, authority: Path | None) -> Tls | None:
        """The files given on the command line; None if none were given.

        Raises `ControllerError` if only some of the three were given.
        """
        given = {"--tls-key": key, "--tls-cert": certificate, "--tls-ca": authority}
        missing = [name for name, path in given.items() if path is None]
        if len(missing) == len(given):
            return None
        if key is None or certificate is None or authority is None:
            raise ControllerError(
                f"TLS needs a key, a certificate and a CA for the switches; missing: {', '.join(missing)}",
                "--tls-key FILE --tls-cert FILE --tls-ca FILE",
            )
        return cls(key, certificate, authority)

    def context(self) -> ssl.SSLContext:
        """The context for incoming connections: TLS 1.2 or later, and switches need a certificate signed by the CA.

        Raises `ControllerError` if a file cannot be read or is not valid.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED
        # Without a callback, OpenSSL would prompt for the password of an encrypted key.
        try:
            context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        except (OSError, ssl.SSLError) as error:
            self._refuse(error, "--tls-cert", self.certificate, "--tls-key", self.key)
        try:
            context.load_verify_locations(self.authority)
        except (OSError, ssl.SSLError) as error:
            self._refuse(error, "--tls-ca", self.authority)
        return context

    @staticmethod
    def _refuse(error: OSError, *given: object) -> None:
        named = " and ".join(f"{option} {path}" for option, path in zip(given[::2], given[1::2], strict=True))
        if isinstance(error, ssl.SSLError):
            reason = f"{error.reason or error}".replace("_", " ").lower()
            hint = "PEM files without a password, and a certificate that matches the key"
        else:
            reason, hint = error.strerror or str(error), "give files that this user can read"
        raise ControllerError(f"{named}: {reason}", hint) from None


class Securing(asyncio.Protocol):
    """A connection during its TLS handshake, before it becomes a switch's."""

    def __init__(
        self,
        context: ssl.SSLContext,
        connection: Connection,
        admit: Callable[[Securing], bool],
        ended: Callable[[Securing, str], None],
    ) -> None:
        """`admit` returns whether another connection is allowed; `ended` gets the error, empty on success."""
        self._context = context
        self._connection = connection
        self._admit = admit
        self._ended = ended
        self._agreeing: asyncio.Task[None] | None = None
        self.host = self.peer = "an unknown address"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the handshake."""
        assert isinstance(transport, asyncio.Transport)
        self.host, self.peer = address_of(transport)
        if not self._admit(self):
            transport.abort()
            return
        # Data received before TLS takes over would be lost.
        transport.pause_reading()
        self._agreeing = asyncio.get_running_loop().create_task(self._agree(transport))

    def give_up(self) -> None:
        """Abort the handshake."""
        if self._agreeing is not None:
            self._agreeing.cancel()

    async def _agree(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(
                transport, self._connection, self._context, server_side=True, ssl_handshake_timeout=HANDSHAKE_S
            )
        except asyncio.CancelledError:
            transport.abort()
            raise
        except (OSError, ssl.SSLError) as error:
            transport.abort()
            self._ended(self, _reason(error))
            return
        if secured is None:
            self._ended(self, "it closed the connection")
            return
        self._ended(self, "")
        self._connection.connection_made(secured)


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE"):
            return "it does not speak TLS; with Open vSwitch: ovs-vsctl set-controller BRIDGE ssl:ADDRESS:PORT"
        if error.reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE":
            return "it sent no certificate; with Open vSwitch: ovs-vsctl set-ssl KEY CERTIFICATE CA"
        return (error.reason or str(error)).replace("_", " ").lower()
    if isinstance(error, ConnectionAbortedError | TimeoutError):
        return f"no TLS handshake within {HANDSHAKE_S:g} s"
    return "it closed the connection during the TLS handshake: it may not trust this controller's certificate"
