"""Ranks of schemes over blocks, and the groups of schemes that cannot be told apart: pure functions on plain numbers.

The form is that of Demšar's critical-difference diagrams (Journal of Machine Learning Research 7, 2006). Mean ranks
alone do not decide which schemes differ, as they depend on the other schemes in the comparison (Benavoli, Corani and
Mangili, Journal of Machine Learning Research 17, 2016): each pair has a test of its own, corrected by Holm's method.
A block is a seed at a point of the sweep. Blocks of one seed share random numbers, so a seed is one observation.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

from .difference import has_ratio
from .statistics import CONFIDENCE, friedman, p_value

Block = tuple[int, Hashable]
"""A seed and a point."""
Two = tuple[str, str]
"""Two schemes, in the order in which they were given."""


@dataclass(frozen=True)
class Duel:
    """The values of two schemes in a block, over the same flows."""

    own: float
    other: float
    own_left: float = 0
    """Flows of the first scheme that did not finish, where they would count."""
    other_left: float = 0

    def share(self, better: int) -> float:
        """The share of the win of the first scheme: 1, 0, or 0.5 for a tie; `better` as in `weft.metrics.Metric`.

        It is a tie if the better side has more unfinished flows: they would be its slowest.
        """
        ahead = (self.own - self.other) * better
        if ahead == 0 or (self.own_left > self.other_left if ahead > 0 else self.own_left < self.other_left):
            return 0.5
        return float(ahead > 0)


@dataclass(frozen=True)
class Contest:
    """The ranks of schemes, and the test of each pair before a correction."""

    ranks: dict[str, float]
    """Mean rank over blocks; 1 is the best. The best scheme comes first."""
    blocks: int
    seeds: int
    overall: float | None
    """The p-value of Friedman's test over seeds."""
    tests: dict[Two, float]
    """The p-value of each pair: Student's paired t test over seeds."""
    undecided: frozenset[Two]
    """Pairs whose better side has more unfinished flows: they are never told apart."""


def contest(
    schemes: Sequence[str], duels: Mapping[Block, Mapping[Two, Duel]], better: int, kind: str = ""
) -> Contest | None:
    """Rank schemes by their duels, over the blocks that have those of all pairs; None without such a block.

    `kind` is that of the metric, as in `weft.difference`.
    A scheme's rank in a block is one plus the number of schemes that are better there; ties count half.
    """
    pairs = list(combinations(schemes, 2))
    whole = {block: own for block, own in duels.items() if len(own) == len(pairs)}
    if not whole or not pairs:
        return None
    ranks: dict[int, list[list[float]]] = {}
    for (seed, _), own in sorted(whole.items(), key=lambda item: item[0][0]):
        ranks.setdefault(seed, []).append(_ranks(schemes, own, better))
    every = [block for blocks in ranks.values() for block in blocks]
    means = dict(zip(schemes, _means(every), strict=True))
    changes = {pair: _changes(pair, whole, kind) for pair in pairs}
    tests = {pair: p for pair, found in changes.items() if (p := p_value(found.values())) is not None}
    return Contest(
        ranks=dict(sorted(means.items(), key=lambda item: item[1])),
        blocks=len(every),
        seeds=len(ranks),
        overall=friedman([_means(blocks) for blocks in ranks.values()]),
        tests=tests,
        undecided=frozenset(
            pair
            for pair in pairs
            if _is_undecided(sum(changes[pair].values()) * better, (own[pair] for own in whole.values()))
        ),
    )


def _ranks(schemes: Sequence[str], duels: Mapping[Two, Duel], better: int) -> list[float]:
    found = dict.fromkeys(schemes, 1.0)
    for (own, other), duel in duels.items():
        share = duel.share(better)
        found[own] += 1 - share
        found[other] += share
    return list(found.values())


def _means(blocks: Sequence[Sequence[float]]) -> list[float]:
    return [sum(of_scheme) / len(blocks) for of_scheme in zip(*blocks, strict=True)]


def _changes(pair: Two, blocks: Mapping[Block, Mapping[Two, Duel]], kind: str) -> dict[int, float]:
    """A pair's mean change by seed: of the logarithm if all values are positive, as in `weft.difference`."""
    found: dict[int, list[Duel]] = {}
    for (seed, _), duels in blocks.items():
        found.setdefault(seed, []).append(duels[pair])
    positive = has_ratio(kind) and all(duel.own > 0 and duel.other > 0 for duels in found.values() for duel in duels)
    return {
        seed: sum(math.log(duel.own / duel.other) if positive else duel.own - duel.other for duel in duels) / len(duels)
        for seed, duels in sorted(found.items())
    }


def _is_undecided(ahead: float, duels: Iterable[Duel]) -> bool:
    """Whether the side that is `ahead` (the first one if positive) has more unfinished flows in some duels."""
    left = [(duel.own_left, duel.other_left) for duel in duels]
    more = sum(own - other for own, other in left)
    return more > 0 if ahead > 0 else more < 0


def groups(schemes: Sequence[str], apart: frozenset[Two]) -> list[list[str]]:
    """The largest groups of schemes of which no two are in `apart`, in the order of `schemes`.

    Every scheme is in a group. Two schemes share a group exactly if they are not in `apart` (either way round).
    """
    found: list[frozenset[str]] = [frozenset(schemes)]
    # Each pair splits the groups that hold both (Piepho, Journal of Computational and Graphical Statistics 13, 2004).
    for one, other in combinations(schemes, 2):
        if (one, other) not in apart and (other, one) not in apart:
            continue
        parts = [part for group in found for part in _split(group, one, other)]
        found = [part for part in dict.fromkeys(parts) if not any(part < larger for larger in parts)]
    place = {scheme: at for at, scheme in enumerate(schemes)}
    listed = [sorted(group, key=place.__getitem__) for group in found]
    return sorted(listed, key=lambda group: [place[scheme] for scheme in group])


def _split(group: frozenset[str], one: str, other: str) -> list[frozenset[str]]:
    return [group - {one}, group - {other}] if {one, other} <= group else [group]


def letters(schemes: Sequence[str], found: Sequence[Sequence[str]]) -> dict[str, str]:
    """The letters of each scheme's groups, such as ``ab``; from the 27th group on, numbers in brackets."""
    names = [*ascii_lowercase, *(f"({at})" for at in range(len(ascii_lowercase) + 1, len(found) + 1))]
    return {scheme: "".join(names[at] for at, group in enumerate(found) if scheme in group) for scheme in schemes}


def told_apart(found: Contest, adjusted: Mapping[Two, float]) -> frozenset[Two]:
    """The pairs that differ at 5 %, by their p-values after a correction."""
    return frozenset(pair for pair, p in adjusted.items() if p < 1 - CONFIDENCE and pair not in found.undecided)
