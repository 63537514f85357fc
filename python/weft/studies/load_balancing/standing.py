"""Where the schemes of the four papers stand among all schemes of the survey (L9)."""

from __future__ import annotations

import polars as pl

from ...statistics import Estimate, paired_ratio
from .survey import SITUATIONS
from .table import WITH_MPTCP

PAPERS = ("tcp_path", "tfe", "arp_path", f"smoc{WITH_MPTCP}", "tag_forward")
"""Schemes of the four papers, as the survey names them."""


def standing(survey: pl.DataFrame) -> tuple[Estimate, list[str]] | None:
    """TCP-Path's mean slowdown above ECMP's in per cent on the symmetric fabric, and the places in each situation.

    A scheme's slowdown in a situation is the mean over workloads, loads and seeds of the runs' mean slowdowns.
    """
    own, ecmp = (_by_seed(survey, "symmetric", scheme) for scheme in ("tcp_path", "ecmp"))
    found = paired_ratio(own, ecmp)
    if found is None or found.low is None:
        return None
    notes = ["no claim of a paper: places by mean slowdown"]
    for situation in SITUATIONS:
        order = ranking(survey, situation.name)
        places = [f"{scheme} {order.index(scheme) + 1}" for scheme in PAPERS if scheme in order]
        if places:
            notes.append(f"{situation.title}, of {len(order)}: {', '.join(places)} (best: {', '.join(order[:3])})")
    return found.shifted(-1).scaled(100), notes


def ranking(survey: pl.DataFrame, situation: str) -> list[str]:
    """The schemes of a situation by mean slowdown, best first."""
    rows = survey.filter((pl.col("situation") == situation) & pl.col("mean").is_not_null())
    return rows.group_by("scheme").agg(pl.col("mean").mean()).sort("mean", "scheme")["scheme"].to_list()


def _by_seed(survey: pl.DataFrame, situation: str, scheme: str) -> dict[int, float]:
    rows = survey.filter((pl.col("situation") == situation) & (pl.col("scheme") == scheme))
    return dict(rows.group_by("seed").agg(pl.col("mean").mean()).iter_rows())
