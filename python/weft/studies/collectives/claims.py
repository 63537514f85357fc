"""The rows of the study: for each collective and fabric, the gain from more paths, and from other hosts.

No paper has these claims. A row holds if the whole 95 % interval of the time, paired by seed, is below zero; without an
interval it is not measured. The intervals are not corrected for the number of rows.
"""

import polars as pl

from ..outcome import StudyRow
from ..rows import below, not_measured
from .parts import against, by_seed, ratios, timeouts
from .setups import COLLECTIVES, KINDS, REFERENCE, SPRAYS, STATES, WAYS, one_path

PATHS = "{kind}: {collective} takes less time sprayed than on one path, {state}"
HOSTS = "on one path, {collective} takes less time with {kind} than with {reference}, {state}"
UNIT = "% time"
TITLES = {"whole": "whole fabric", "failed": "an uplink failed"}
SECOND = "uec"
"""The kind of hosts that is compared with the reference."""


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """Rows of the paths for each kind of hosts that can spray, and one of the hosts, by collective and fabric."""
    rows = []
    for collective in COLLECTIVES:
        for state in STATES:
            said = {"collective": collective, "state": TITLES[state]}
            for kind, way in SPRAYS.items():
                claim = PATHS.format(kind=KINDS[kind].title, **said)
                rows.append(_row(table, (collective, state), f"P-{kind}", claim, (way, one_path(kind))))
            claim = HOSTS.format(kind=KINDS[SECOND].title, reference=KINDS[REFERENCE].title, **said)
            pair = (one_path(SECOND), one_path(REFERENCE))
            rows.append(_row(table, (collective, state), f"H-{SECOND}", claim, pair))
    return rows


def remarks(table: pl.DataFrame) -> list[str]:
    """Times over the bound of all ways, and which did not finish or had timeouts, by collective and fabric."""
    found = ["the intervals are not corrected for the number of rows"]
    for collective in COLLECTIVES:
        for state in STATES:
            times = ratios(table, collective, state)
            said = ", ".join(f"{WAYS[way].title} {value.mean:.2f}" for way, value in times.items())
            missing = [WAYS[way].title for way in WAYS if way not in times]
            late = timeouts(table, collective, state)
            found.append(f"{collective}, {TITLES[state]}, times the bound: {said or 'none'}")
            if missing:
                found.append(f"{collective}, {TITLES[state]}, not finished: {', '.join(missing)}")
            if late:
                said = ", ".join(f"{WAYS[way].title} {share:.2f}" for way, share in late.items())
                found.append(f"{collective}, {TITLES[state]}, share of runs with timeouts: {said}")
    return found


def _row(table: pl.DataFrame, case: tuple[str, str], ident: str, claim: str, pair: tuple[str, str]) -> StudyRow:
    collective, state = case
    ident = f"{ident}-{collective}-{state}"
    found = by_seed(table, collective, state)
    value = against(found, *pair)
    if value is None:
        missing = [WAYS[way].title for way in pair if way not in found]
        return not_measured(ident, claim, UNIT, f"not finished: {', '.join(missing)}")
    times = ratios(table, collective, state)
    notes = [" and ".join(f"{WAYS[way].title} {times[way].mean:.2f}" for way in pair) + " times the bound"]
    return below(ident, claim, 0, value, UNIT, notes)
