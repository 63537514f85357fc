"""The rows L1 to L9: claims, and the rules of `rules` that decide them.

All intervals are 95 % Student t intervals over seeds; schemes are compared seed by seed, over the same flows. Ratios
are geometric means. A claim whose scheme this version of Weft lacks is not measured.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..outcome import StudyRow
from ..rows import Finding, of_finding
from .rules import Tables, conga, drill, hedera, hermes, letflow, of_project, plb, presto, wcmp


def judge(tables: Tables) -> list[StudyRow]:
    """The rows L1 to L9."""
    return [_row(claim, tables) for claim in CLAIMS]


@dataclass(frozen=True)
class Claim:
    """A claim, its unit, the schemes it is about, and the rule that decides it."""

    id: str
    text: str
    unit: str
    schemes: tuple[str, ...]
    rule: Callable[[Tables], Finding | None]
    """The finding; None if the data do not suffice."""


def _row(claim: Claim, tables: Tables) -> StudyRow:
    there = set(tables.own["scheme"]) | set(tables.survey["scheme"])
    missing = [scheme for scheme in claim.schemes if scheme not in there]
    why = f"no runs with {' and '.join(missing)}" if missing else "at least two seeds of all schemes are needed"
    return of_finding(claim.id, claim.text, claim.unit, claim.rule(tables), why)


CLAIMS = (
    Claim(
        "L1",
        "CONGA: with one failed link, mean FCT up to 5 times better than ECMP",
        "times, ECMP's mean FCT over CONGA's",
        ("conga",),
        conga,
    ),
    Claim(
        "L2",
        "LetFlow: within 10 to 20 % of CONGA under mild asymmetry, within a factor of 2 under large",
        "times, LetFlow's mean FCT over CONGA's, mild",
        ("letflow", "conga"),
        letflow,
    ),
    Claim(
        "L3",
        "DRILL: mean FCT 1.3 to 1.4 times lower than CONGA's and Presto's at 80 % load",
        "times, CONGA's mean FCT over DRILL's",
        ("drill", "conga", "presto"),
        drill,
    ),
    Claim(
        "L4",
        "Hedera: 96 % of the optimal bisection bandwidth, up to 113 % more than static hashing",
        "% of the optimum, worst pattern",
        ("hedera",),
        hedera,
    ),
    Claim(
        "L5",
        "Presto tracks a single non-blocking switch on symmetric fabrics",
        "times the single switch's slowdown",
        ("presto",),
        presto,
    ),
    Claim(
        "L6",
        "WCMP reduces the variation of flow bandwidths by up to 25 times where capacities differ",
        "times, ECMP's variance over WCMP's",
        ("wcmp",),
        wcmp,
    ),
    Claim(
        "L7",
        "PLB: imbalance of uplinks -60 %, drops -33 %, p99 of small flows -20 % against ECMP",
        "% change of the imbalance",
        ("plb",),
        plb,
    ),
    Claim(
        "L8",
        "Hermes: at most 10 % (CONGA) to 20 % (Clove) better under asymmetry, more than 32 % under switch failures",
        "% below the best rival's mean FCT, failing spine",
        ("hermes",),
        hermes,
    ),
    Claim(
        "L9",
        "TCP-Path, TFE, smoc and Tag-and-Forward among all schemes, symmetric and not",
        "% from ECMP's mean slowdown, TCP-Path, symmetric",
        ("tcp_path",),
        of_project,
    ),
)
"""All claims."""
