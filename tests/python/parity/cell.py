"""The results of a case in one network: facts with their expected values, and times with their bounds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass
class Cell:
    """A cell of the table.

    Attributes:
        facts: By name, the found and the expected value.
        times: By name, milliseconds and the upper bound.
        stalled: The longest scheduling delay of a ready process during the case, in milliseconds.
    """

    facts: dict[str, tuple[object, object]] = field(default_factory=dict)
    times: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    stalled: float = 0.0

    def fact(self, name: str, found: object, should: object) -> None:
        """Record a fact."""
        self.facts[name] = (found, should)

    def time(self, name: str, milliseconds: float | None, bound: float) -> None:
        """Record a time; None if the event never happened."""
        self.times[name] = (None if milliseconds is None else round(milliseconds, 3), bound)

    def to_json(self) -> str:
        """The cell as a line of JSON."""
        return json.dumps({"facts": self.facts, "times": self.times, "stalled": self.stalled})

    @staticmethod
    def from_json(text: str) -> Cell:
        """Parse a line of JSON."""
        read = json.loads(text)
        return Cell(
            {name: (found, should) for name, (found, should) in read["facts"].items()},
            {name: (value, bound) for name, (value, bound) in read["times"].items()},
            read["stalled"],
        )
