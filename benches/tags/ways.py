"""What the programs take for a whole way, from what they take at each switch."""

from dataclasses import dataclass
from typing import Any

HOPS = 5
"""Switches between servers of different pods."""
TAGS, TABLE = "tag-forward", "flow-table"
LENGTH = 64
"""Bytes of the frames that tags are put on, in the sum over a way: others take as long."""


@dataclass(frozen=True)
class Table:
    """A flow table.

    Attributes:
        rules: How many it has.
        kinds: How many kinds of them: of one priority and one pair of prefix lengths.
        v6: Whether they are of IPv6.
        prefix: Whether they match networks, not addresses.
    """

    rules: int
    kinds: int
    v6: bool
    prefix: bool

    @property
    def matches(self) -> str:
        """What its rules look at, for people."""
        return f"IPv{6 if self.v6 else 4} {'prefix' if self.prefix else 'exact'}"


@dataclass(frozen=True)
class Way:
    """What programs take for a frame over five switches, in nanoseconds, and for one look-up of it."""

    lookup: float
    tables: float
    tags: float

    @property
    def saved(self) -> float:
        """By tags; below zero where they cost more than they save."""
        return self.tables - self.tags


@dataclass(frozen=True)
class Costs:
    """Medians of what `examples/tags` found, without what a run takes that does nothing; nanoseconds.

    Attributes:
        nothing: What that is.
        steps: Of putting a tag on (`push`, with a look-up in a table of one rule), forwarding by it (`forward`) and
            taking it off (`pop`), by bytes of the frame; of IPv4.
        lookups: At a source with tags, and at a switch with a table, by what the table is like.
    """

    nothing: float
    steps: dict[tuple[str, int], float]
    lookups: dict[str, dict[Table, float]]

    @classmethod
    def read(cls, found: dict[str, Any], part: str = "p50") -> "Costs":
        """From the example's JSON; `part` says which percentile."""
        nothing = float(found["nothing"][part])
        steps = {(row["what"], row["bytes"]): row["ns"][part] - nothing for row in found["tags"] if not row["v6"]}
        lookups: dict[str, dict[Table, float]] = {TAGS: {}, TABLE: {}}
        for row in found["lookups"]:
            table = Table(row["rules"], row["kinds"], row["v6"], row["prefix"])
            lookups[row["mode"]][table] = row["ns"][part] - nothing
        return cls(nothing, steps, lookups)

    @property
    def behind_the_source(self) -> float:
        """What tags take at the other switches of a way: forwarding at all but the last, which takes the tag off."""
        return (HOPS - 2) * self.steps["forward", LENGTH] + self.steps["pop", LENGTH]

    def way(self, table: Table) -> Way:
        """Over switches that all have such a table, and over the same with tags."""
        lookup = self.lookups[TABLE][table]
        return Way(lookup, HOPS * lookup, self.lookups[TAGS][table] + self.behind_the_source)

    @property
    def even(self) -> float:
        """How long a look-up takes that costs as much at every switch as tags do.

        What pushing takes beside its look-up is the difference of the two programs at the smallest table.
        """
        smallest = min(self.lookups[TABLE], key=lambda table: (table.rules, table.kinds, table.v6, table.prefix))
        push = self.lookups[TAGS][smallest] - self.lookups[TABLE][smallest]
        return (push + self.behind_the_source) / (HOPS - 1)
