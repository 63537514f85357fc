"""A comparison as one row of JSON."""

from dataclasses import asdict
from typing import Any

from .comparison import Comparison


def row(found: Comparison) -> dict[str, Any]:
    """All measurements of a case; times in seconds, memory in bytes, deviations of Weft's run as shares."""
    agreement = found.agreement
    return {
        "case": found.case.name,
        "summary": found.case.summary,
        "comparable": agreement.holds,
        "reasons": agreement.reasons,
        "ratio": found.ratio,
        "ratio_min": min(found.ratios),
        "ratio_max": max(found.ratios),
        "memory_ratio": found.memory_ratio,
        "weft_seconds": found.ours_seconds,
        "weft_engine_seconds": found.engine_seconds,
        "htsim_seconds": found.theirs_seconds,
        "weft_memory": found.ours_memory,
        "htsim_memory": found.theirs_memory,
        "packets_deviation": agreement.packets,
        "last_deviation": agreement.last,
        "flows": agreement.flows,
        "weft": asdict(agreement.ours),
        "htsim": asdict(agreement.theirs),
        "rounds": [
            {"weft": asdict(one.ours.usage), "engine_seconds": one.ours.engine_seconds, "htsim": asdict(one.theirs)}
            for one in found.rounds
        ],
    }
