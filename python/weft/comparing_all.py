"""The inputs that comparisons of all schemes with each other have in common: metrics, columns, enough seeds."""

from collections.abc import Sequence

from .errors import ResultsError
from .grouping import group_keys
from .metrics import METRICS, Metric
from .quantity import digits
from .runs import Runs
from .statistics import CONFIDENCE, half_width

FEW_SEEDS = 5
"""Number of seeds below which a comparison is marked."""
FEW_FLOWS = 10
"""Number of flows in a run below which a mean over them is marked."""
NO_SEED = "No seed has runs of two schemes at one point: run all schemes with the same seeds."
FEW = "§"
"""Follows the number of seeds if these are few."""


def compared(results: Runs, baseline: str | None) -> Runs:
    """The results with the swept key compared that `baseline` names a value of; see `weft.runs.Runs.comparing`.

    Raises `ResultsError` if there is no such baseline.
    """
    found = results.comparing(baseline)
    if baseline is not None:
        found.labelled(baseline)
    return found


def chosen(names: Sequence[str] | None) -> list[Metric]:
    """The metrics with these keys, in the order of the summary; default all.

    Raises `ResultsError` if there is no such metric.
    """
    if names is None:
        return [metric for metric in METRICS if not metric.rare]
    keys = {name.replace("-", "_") for name in names}
    unknown = sorted(keys - {metric.key for metric in METRICS})
    if unknown or not keys:
        known = ", ".join(metric.key for metric in METRICS)
        raise ResultsError(f"no metric `{unknown[0] if unknown else ''}`: choose from {known}")
    return [metric for metric in METRICS if metric.key in keys]


def columns(results: Runs, by: Sequence[str] | None) -> list[str]:
    """The columns to group by, with the scheme.

    Raises `ResultsError` if a column is unknown, or with fewer than two schemes or seeds.
    """
    keys = group_keys(results, by)
    if "scheme" not in keys:
        raise ResultsError("schemes are compared, so they belong to the columns to group by: add `scheme` to --by")
    if results.compared in keys:
        raise ResultsError(f"remove `{results.compared}` from --by: the scheme's label contains it")
    results.at_least_one()
    if len(results.schemes) < 2:
        values = results.comparable_values
        hint = f"compare the values of a swept key by `--baseline {values[0]}`" if values else "sweep `scheme.name`"
        raise ResultsError(f"{results.where} has one scheme, and a comparison needs two or more: {hint}")
    if len(results.seeds) < 2:
        raise ResultsError(
            f"{results.where} has one seed: a comparison of all schemes needs at least 2, better {FEW_SEEDS} or more:"
            f" repeat `weft run` with `--seeds {FEW_SEEDS}`, which adds the missing runs"
        )
    return keys


def few_seeds(seeds: int, tests: int) -> str:
    """The note on comparisons of fewer seeds than `FEW_SEEDS`; `seeds` is the smallest number of them."""
    least = half_width(seeds, 1 - (1 - CONFIDENCE) / max(tests, 1)) if seeds > 1 else None
    size = (
        "no difference can be significant"
        if least is None
        else f"a difference must exceed {digits(least, 2)} standard deviations (over seeds) to be significant among"
        f" {tests}"
    )
    return f"fewer than {FEW_SEEDS} seeds: with {seeds}, {size}."
