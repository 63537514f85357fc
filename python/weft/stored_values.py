"""The values of classes of flows as the engine stored them in ``summary.json``, which take no Polars to read.

Sums there are in another order than in `weft.group_values`, so that last digits of means may differ.
"""

from collections.abc import Sequence

from .labels import column
from .matching import Record
from .metrics import METRIC_KEYS
from .run import FLOWS
from .runs import Runs


def per_run(results: Runs, keys: Sequence[str]) -> list[Record] | None:
    """One record per class and run, as of `weft.group_values.per_run`, if `keys` tell all of them apart by seed.

    None if they do not, or if the runs were emulated. Raises `ResultsError` if a run lacks its flows.
    """
    heads = results.heads()
    if "class" not in keys or any("emulated" in head for head in heads.values()):
        return None
    results.files(FLOWS)
    runs = results.run_columns()
    shared = {key: runs[column(key)] for key in (*keys, "seed", "run") if key != "class"}
    found: list[Record] = []
    for at, run in enumerate(results.finished):
        own = {key: values[at] for key, values in shared.items()}
        for name, values in heads[run.id]["classes"].items():
            found.append(own | {"class": name} | {key: values[key] for key in ("flows", "finished", *METRIC_KEYS)})
    several = len({tuple(record[key] for key in (*keys, "seed")) for record in found}) < len(found)
    return None if several else found
