"""The rank of the schemes of the four papers among all schemes of the survey (L9)."""

import polars as pl

from ...statistics import Estimate, paired_ratio
from ..rows import spelled
from .survey import LARGEST_MB, SITUATIONS, WORKLOAD
from .table import KEYS, WITH_MPTCP, without_marked

PAPERS = ("tcp_path", "tfe", "arp_path", f"smoc{WITH_MPTCP}", "tag_forward")
"""Schemes of the four papers, as the survey names them."""


def standing(survey: pl.DataFrame) -> tuple[Estimate, list[str]] | None:
    """TCP-Path's mean slowdown above ECMP's in per cent on the symmetric fabric, and the places in each situation.

    Both are with `WORKLOAD` or, in permutations, its profile, over loads and seeds: with loss-driven TCP, timeouts of
    200 ms would decide the places. Groups of runs that were not in a steady state do not count.
    """
    survey = without_marked(survey)
    found, cold = (
        paired_ratio(_by_seed(survey, situation, "tcp_path"), _by_seed(survey, situation, "ecmp"))
        for situation in ("symmetric", "cold")
    )
    if found is None or found.low is None or cold is None:
        return None
    notes = [
        "no claim of a paper: places by mean slowdown, warm",
        f"from a cold start, with the time to resolve addresses: {spelled(cold.shifted(-1), '+')} % from ECMP's",
    ]
    for situation in SITUATIONS:
        order = ranking(survey, situation.name)
        places = [f"{scheme} {order.index(scheme) + 1}" for scheme in PAPERS if scheme in order]
        if places:
            notes.append(f"{situation.title}, of {len(order)}: {', '.join(places)} (best: {', '.join(order[:3])})")
    return found.shifted(-1).scaled(100), notes


def ranking(survey: pl.DataFrame, situation: str) -> list[str]:
    """The schemes of a situation by mean slowdown, best first; only those with all loads and seeds.

    Without its heaviest load, a scheme would look better than the others.
    """
    rows = _of(survey, situation)
    every = rows.select(key for key in KEYS if key != "scheme").n_unique()
    found = rows.drop_nulls("mean").group_by("scheme").agg(pl.len(), pl.col("mean").mean())
    return found.filter(pl.col("len") == every).sort("mean", "scheme")["scheme"].to_list()


def _of(survey: pl.DataFrame, situation: str) -> pl.DataFrame:
    """The rows of a situation with the workload that runs in all of them; those of permutations have its profile."""
    others = pl.col("sizes").is_in(LARGEST_MB) & (pl.col("sizes") != WORKLOAD[0])
    return survey.filter((pl.col("situation") == situation) & (pl.col("profile") == WORKLOAD[1]) & ~others)


def _by_seed(survey: pl.DataFrame, situation: str, scheme: str) -> dict[int, float]:
    rows = _of(survey, situation).filter(pl.col("scheme") == scheme)
    return dict(rows.group_by("seed").agg(pl.col("mean").mean()).iter_rows())
