"""Runs of a result directory by scheme, seed and values of swept keys."""

from collections.abc import Mapping
from typing import Any

from .errors import ResultsError
from .labels import show
from .one_run import Run
from .runs import Runs


def matching(results: Runs, scheme: str | None, seed: int | None, at: Mapping[str, Any]) -> list[Run]:
    """The finished runs of a scheme, a seed and values of swept keys; None: any.

    Raises `ResultsError`, with those that exist, if there are none.
    """
    label = None if scheme is None else results.labelled(scheme)
    runs = results.at_least_one()
    swept = sorted({key for run in runs for key in run.overrides})
    for key in at:
        if key not in swept:
            known = f": it sweeps {', '.join(swept)}" if swept else ""
            raise ResultsError(f"{results.where} does not sweep `{key}`{known}")
    found = [
        run
        for run in runs
        if label in (None, run.scheme)
        and seed in (None, run.seed)
        and all(show(run.overrides.get(key)) == show(value) for key, value in at.items())
    ]
    if not found:
        seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in runs}))
        labels = ", ".join(dict.fromkeys(run.label for run in runs))
        raise ResultsError(f"no finished run in {results.where} matches: it has the seeds {seeds} of {labels}")
    return found
