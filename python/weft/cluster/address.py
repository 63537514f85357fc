"""The address of a cluster, as in `--dask`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import ClusterError

_SCHEDULER = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]+|\[[0-9a-fA-F:.%]+\]):(\d{1,5})/?", re.ASCII)
_MOST_LOCAL = 1024
"""Maximum number of workers on this machine."""
_MOST_BYTES = 1 << 20
"""Maximum size of a scheduler file."""


@dataclass(frozen=True)
class Address:
    """A scheduler, or a number of workers to start on this machine; and the text that the user typed."""

    text: str
    scheduler: str | None = None
    local: int = 0


def parse(text: str) -> Address:
    """Read an address: ``tcp://HOST:PORT``, a scheduler file, or ``local:N``.

    Raises `ClusterError` if it is none of these, or the file cannot be read.
    """
    kind, _, number = text.partition(":")
    if kind == "local":
        if not number.isascii() or not number.isdigit() or not 1 <= int(number[:9]) <= _MOST_LOCAL:
            raise ClusterError(f"`{text}`: the number of workers must be 1 to {_MOST_LOCAL}", "local:4")
        return Address(text, local=int(number))
    if (found := _SCHEDULER.fullmatch(text)) and 1 <= int(found[1]) <= 65535:
        return Address(text, scheduler=text if "://" in text else f"tcp://{text}")
    path = Path(text)
    if path.is_file():
        return Address(text, scheduler=_of_file(path))
    raise ClusterError(
        f"`{text}` is neither a Dask address nor a scheduler file", "tcp://HOST:8786, the path of a file, or local:4"
    )


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            address = json.loads(file.read(_MOST_BYTES))["address"]
    except OSError as error:
        raise ClusterError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        address = None
    if not isinstance(address, str) or not _SCHEDULER.fullmatch(address):
        raise ClusterError(f"{path} is not a scheduler file", "the file that `dask scheduler --scheduler-file` wrote")
    return address
