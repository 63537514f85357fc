"""The peers from outside: one jail each, queried one at a time."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...emulation.errors import EmulationError
from ...emulation.jail import Jail

_LOG_CHARACTERS = 2_000
"""Number of last characters of a jail's standard error quoted in an error."""


class Peer:
    """A peer in its jail."""

    def __init__(self, name: str, rules: int, directory: Path) -> None:
        """Start building it; `directory` is for its files."""
        self.name = name
        self._directory = directory
        self._rules = rules
        directory.mkdir()
        (directory / "options.json").write_text(json.dumps({"peer": name, "rules": rules}), encoding="utf-8")
        with (directory / "emulation.log").open("wb") as log:
            self._jail = Jail("weft.studies.tag_and_forward.inside", [str(directory)], log, listens=True)

    def wait(self, on_progress: Callable[[float], None]) -> None:
        """Wait until it forwards; `on_progress` is called with the progress, from 0 to 1.

        Raises `EmulationError` if it could not be built.
        """
        self._until("ready", on_progress)

    def ask(self, what: str, **values: Any) -> Any:
        """Send a request to `inside.Answers`. Raises `EmulationError` if it refused, or has exited."""
        asking = self._jail.process.stdin
        assert asking is not None
        try:
            asking.write(json.dumps({"ask": what, **values}).encode() + b"\n")
            asking.flush()
        except BrokenPipeError:
            raise self._failure() from None
        return self._until("answer", lambda _: None)["answer"]

    def fill(self, rules: int) -> None:
        """Fill its tables with this number of rules, unless they already are.

        Raises `EmulationError` if it refused, or has exited.
        """
        if rules != self._rules:
            self.ask("fill", rules=rules)
            self._rules = rules

    def end(self) -> None:
        """Stop it."""
        self._jail.end()

    def _until(self, wanted: str, on_progress: Callable[[float], None]) -> dict[str, Any]:
        said = self._jail.process.stdout
        assert said is not None
        for line in said:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("event") == wanted:
                return dict(event)
            if event.get("event") == "refused":
                raise EmulationError(f"{self.name}: {event['error']}")
            if event.get("event") == "stage":
                on_progress(float(event["fraction"]))
        raise self._failure()

    def _failure(self) -> EmulationError:
        left = self._directory / "failed.json"
        if left.is_file():
            said = json.loads(left.read_text(encoding="utf-8"))
            return EmulationError(f"{self.name}: {said['error']}", said["hint"])
        log = (self._directory / "emulation.log").read_text(encoding="utf-8", errors="replace")
        return EmulationError(f"{self.name} exited: {log.strip()[-_LOG_CHARACTERS:]}")
