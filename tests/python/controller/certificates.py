"""Authorities, keys and certificates for tests, created with the openssl program."""

from __future__ import annotations

import subprocess
from pathlib import Path

DAYS = "2"


def openssl(*words: str | Path) -> None:
    """Run openssl."""
    done = subprocess.run(["openssl", *map(str, words)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Authority:
    """A certificate authority.

    Attributes:
        certificate: Its own, PEM.
    """

    def __init__(self, directory: Path, name: str) -> None:
        """Create its key and certificate."""
        self._directory, self._name = directory, name
        self._key, self.certificate = directory / f"{name}.key", directory / f"{name}.pem"
        subject = ("-subj", f"/CN={name}", "-days", DAYS)
        openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self._key, "-out", self.certificate, *subject
        )

    def issue(self, name: str) -> tuple[Path, Path]:
        """Issue a key and a certificate for a name."""
        key, request, certificate = (self._directory / f"{self._name}-{name}.{end}" for end in ("key", "csr", "pem"))
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        own = ("-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", DAYS)
        openssl("x509", "-req", "-in", request, "-out", certificate, *own)
        return key, certificate
