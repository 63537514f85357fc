"""The survey's table as CSV, Markdown and JSON: means over seeds with 95 % intervals."""

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from ...statistics import estimate
from .setups import needs, registry
from .survey import SITUATIONS, TITLES, TUNED
from .table import KEYS, MEASURES, WITH_MPTCP, without_marked

GROUP = tuple(key for key in KEYS if key != "seed")
Refused = Mapping[tuple[str, str], str]


def aggregate(survey: pl.DataFrame) -> pl.DataFrame:
    """One row per situation, workload, load and scheme: each measure with `_low` and `_high`, and the scheme's needs.

    Groups of runs of which one was not in a steady state have a `mark`, such as ``unstable``, in place of measures.
    """
    rank = {situation.name: place for place, situation in enumerate(SITUATIONS)}
    rows: list[dict[str, Any]] = []
    for group, part in without_marked(survey).group_by(*GROUP, maintain_order=True):
        row: dict[str, Any] = dict(zip(GROUP, group, strict=True)) | {
            "seeds": part["seed"].n_unique(),
            "mark": part["mark"][0],
        }
        for measure in MEASURES:
            found = estimate(part[measure])
            row |= {measure: found and found.mean}
            row |= {f"{measure}_low": found and found.low, f"{measure}_high": found and found.high}
        name = row["scheme"].removesuffix(WITH_MPTCP)
        rows.append(row | {"tables": tables(name), "needs": ", ".join(needs(name))})
    floats = {f"{measure}{end}": pl.Float64 for measure in MEASURES for end in ("", "_low", "_high")}
    schema = {key: kind for key, kind in KEYS.items() if key != "seed"} | {"seeds": pl.Int64, "mark": pl.String}
    schema |= floats
    frame = pl.DataFrame(rows, schema=schema | {"tables": pl.String, "needs": pl.String})
    order = pl.col("situation").replace_strict(rank, return_dtype=pl.Int64)
    return frame.sort(order, "profile", "sizes", "load", "scheme", maintain_order=True)


def tables(scheme: str) -> str:
    """The limits of a scheme's tables, e.g. ``flowlet_table 65536``."""
    params = registry().get(scheme, {}).get("params", ())
    return ", ".join(f"{param['name']} {param['default']}" for param in params if param["name"].endswith("_table"))


def remarks(refused: Refused) -> list[str]:
    """The schemes with changed parameters; then one remark for each reason why schemes do not run in situations."""
    found = dict.fromkeys(f"{scheme} runs with {parameter}" for scheme, parameter in TUNED.items())
    for where, scheme in refused:
        reason = refused[where, scheme]
        if all(refused.get((where, other)) == reason for other in registry()):
            found[f"{TITLES[where]}: not simulated: {reason}"] = None
            continue
        places = [TITLES[there] for there, other in refused if other == scheme and refused[there, other] == reason]
        # A title may contain a comma.
        found[f"{scheme} is left out of {'; '.join(places)}: {reason}"] = None
    return list(found)


NO_NUMBERS = "Where runs were not in a steady state, a label replaces the numbers: unstable, too short or out of range."


def as_json(found: pl.DataFrame, refused: Refused) -> str:
    """The table and the reasons as JSON."""
    reasons = [{"situation": where, "scheme": scheme, "reason": reason} for (where, scheme), reason in refused.items()]
    return json.dumps({"rows": found.to_dicts(), "left_out": reasons}, indent=2, ensure_ascii=False) + "\n"


_COLUMNS = (
    ("small_mean", "small, mean"),
    ("small_median", "small, median"),
    ("small_p99", "small, p99"),
    ("large_mean", "large, mean"),
    ("large_median", "large, median"),
    ("large_p99", "large, p99"),
    ("timeouts", "flows with a timeout, %"),
    ("out_of_order", "out of order, %"),
    ("unfinished", "unfinished, %"),
    ("entries", "entries per switch"),
    ("control", "control messages per flow"),
)


def markdown(found: pl.DataFrame, refused: Refused) -> str:
    """One table per situation, workload and load: slowdowns and costs by scheme."""
    lines = ["# Load balancers by situation", "", "Slowdowns of small and large flows, means over seeds.", NO_NUMBERS]
    for group, part in found.group_by("situation", "profile", "sizes", "load", maintain_order=True):
        situation, profile, sizes, load = group
        at = "" if load is None else f", {100 * float(str(load)):.0f} % load"
        lines += ["", f"## {TITLES[str(situation)]}: {sizes}, {profile}{at}", ""]
        lines += ["| scheme | " + " | ".join(title for _, title in _COLUMNS) + " | needs |"]
        lines += ["|---|" + "---|" * (len(_COLUMNS) + 1)]
        for row in part.iter_rows(named=True):
            cells = [_cell(row[key], 100 if title.endswith("%") else 1) for key, title in _COLUMNS]
            cells[0] = row["mark"] or cells[0]
            lines.append(f"| `{row['scheme']}` | {' | '.join(cells)} | {row['needs'] or 'nothing'} |")
    lines += ["", *(f"* {remark}" for remark in remarks(refused))]
    return "\n".join(lines) + "\n"


def _cell(value: float | None, scale: int) -> str:
    return "–" if value is None else f"{value * scale:.3g}"
