"""The files that scenarios name, on a worker: kept by the hash of their contents, requested once."""

import hashlib
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

_CHECK_SECONDS = 0.2
"""How often a run that waits for a file looks whether it was stopped."""


class Inputs:
    """A directory of files named by their SHA-256, filled in pieces from elsewhere."""

    def __init__(self, directory: Path, request: Callable[[str], None]) -> None:
        """`request` asks for the file with a hash; somebody then calls `store`."""
        self.directory = directory
        self._request = request
        self._asked: set[str] = set()
        self._failed: dict[str, OSError] = {}
        self._changed = threading.Condition()

    def wait(self, hashes: Iterable[str], is_stopped: Callable[[], bool]) -> bool:
        """Wait until all of these files are here; False if stopped before.

        Raises `OSError` if a file could not be written.
        """
        for name in hashes:
            with self._changed:
                if name not in self._asked:
                    self._asked.add(name)
                    self._request(name)
                while not (self.directory / name).exists():
                    if name in self._failed:
                        raise self._failed[name]
                    if is_stopped():
                        return False
                    self._changed.wait(_CHECK_SECONDS)
        return True

    def store(self, name: str, offset: int, piece: bytes, *, is_last: bool) -> None:
        """Write a piece of a file; the last one completes it.

        Raises `OSError` if it cannot be written (no partial file is left), `ValueError` if it does not have this hash.
        """
        partial = self.directory / f"{name}.partial"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            with partial.open("r+b" if offset else "wb") as file:
                file.seek(offset)
                file.write(piece)
            if is_last:
                self._complete(name, partial)
        except OSError as error:
            partial.unlink(missing_ok=True)
            with self._changed:
                self._failed[name] = error
                self._changed.notify_all()
            raise

    def _complete(self, name: str, partial: Path) -> None:
        with partial.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != name:
            partial.unlink()
            raise ValueError(f"received contents with hash {found}, expected {name}")
        with self._changed:
            partial.replace(self.directory / name)
            self._changed.notify_all()
