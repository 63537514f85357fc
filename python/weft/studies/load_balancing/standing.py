"""Where the schemes of the four papers stand among all schemes of the survey (L9)."""

from __future__ import annotations

import polars as pl

from ...statistics import Estimate, paired_ratio
from ..rows import spelled
from .survey import SITUATIONS
from .table import WITH_MPTCP

PAPERS = ("tcp_path", "tfe", "arp_path", f"smoc{WITH_MPTCP}", "tag_forward")
"""Schemes of the four papers, as the survey names them."""


def standing(survey: pl.DataFrame) -> tuple[Estimate, list[str]] | None:
    """TCP-Path's mean slowdown above ECMP's in per cent on the symmetric fabric, and the places in each situation.

    A scheme's slowdown in a situation is the mean over workloads, loads and seeds of the runs' mean slowdowns.
    """
    found, with_arp = (
        paired_ratio(_by_seed(survey, "tcp_path", column), _by_seed(survey, "ecmp", column))
        for column in ("mean", "mean_with_arp")
    )
    if found is None or found.low is None or with_arp is None:
        return None
    notes = [
        "no claim of a paper: places by mean slowdown from the SYN on",
        f"with the time to resolve addresses: {spelled(with_arp.shifted(-1), '+')} % from ECMP's",
    ]
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


def _by_seed(survey: pl.DataFrame, scheme: str, column: str) -> dict[int, float]:
    """A slowdown on the symmetric fabric by seed, the mean over workloads and loads."""
    rows = survey.filter((pl.col("situation") == "symmetric") & (pl.col("scheme") == scheme))
    return dict(rows.group_by("seed").agg(pl.col(column).mean()).iter_rows())
