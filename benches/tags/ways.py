"""Program time over a whole path, from the time at each switch."""

from dataclasses import dataclass
from typing import Any

HOPS = 5
"""Switches on a path between servers in different pods."""
TAGS, TABLE = "tag-forward", "flow-table"
LENGTH = 64
"""Frame size used for the sum over a path; other sizes take as long."""


@dataclass(frozen=True)
class Table:
    """A flow table: its rules, of how many kinds (one priority, one pair of prefix lengths), IPv6 or prefixes."""

    rules: int
    kinds: int
    v6: bool
    prefix: bool

    @property
    def matches(self) -> str:
        """The matches of its rules, for display."""
        return f"IPv{6 if self.v6 else 4} {'prefix' if self.prefix else 'exact'}"


@dataclass(frozen=True)
class Way:
    """Program time of a frame over five switches, and of one lookup, in nanoseconds."""

    lookup: float
    tables: float
    tags: float

    @property
    def saved(self) -> float:
        """Time saved by tags; negative where they cost more than they save."""
        return self.tables - self.tags


@dataclass(frozen=True)
class Costs:
    """Medians from `examples/tags`, less the time of an empty run; nanoseconds.

    Attributes:
        nothing: The time of an empty run.
        steps: Pushing a tag (`push`, with a lookup in a table of one rule), forwarding by it (`forward`) and removing
            it (`pop`), by frame size; IPv4.
        lookups: At a source with tags, and at a switch with a flow table, by table.
    """

    nothing: float
    steps: dict[tuple[str, int], float]
    lookups: dict[str, dict[Table, float]]

    @classmethod
    def read(cls, found: dict[str, Any], part: str = "p50") -> "Costs":
        """From the example's JSON; `part` is the percentile."""
        nothing = float(found["nothing"][part])
        steps = {(row["what"], row["bytes"]): row["ns"][part] - nothing for row in found["tags"] if not row["v6"]}
        lookups: dict[str, dict[Table, float]] = {TAGS: {}, TABLE: {}}
        for row in found["lookups"]:
            table = Table(row["rules"], row["kinds"], row["v6"], row["prefix"])
            lookups[row["mode"]][table] = row["ns"][part] - nothing
        return cls(nothing, steps, lookups)

    @property
    def behind_the_source(self) -> float:
        """Time with tags at the switches after the source: forwarding at all but the last, which pops the tag."""
        return (HOPS - 2) * self.steps["forward", LENGTH] + self.steps["pop", LENGTH]

    def way(self, table: Table) -> Way:
        """The path through switches with this table, and the same path with tags."""
        lookup = self.lookups[TABLE][table]
        return Way(lookup, HOPS * lookup, self.lookups[TAGS][table] + self.behind_the_source)

    @property
    def even(self) -> float:
        """The break-even lookup time: lookups at every switch then cost as much as tags.

        The cost of pushing besides its lookup is the difference of the two programs with the smallest table.
        """
        smallest = min(self.lookups[TABLE], key=lambda table: (table.rules, table.kinds, table.v6, table.prefix))
        push = self.lookups[TAGS][smallest] - self.lookups[TABLE][smallest]
        return (push + self.behind_the_source) / (HOPS - 1)
