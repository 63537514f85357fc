"""The values of classes of flows as the engine stored them in ``summary.json``, which take no Polars to read.

Sums there are in another order than in `weft.group_values`, so that last digits of means may differ.
"""

from collections.abc import Sequence
from os import SEEK_END
from pathlib import Path
from typing import Any

from .labels import column
from .matching import Record
from .metrics import METRIC_KEYS
from .one_run import FLOWS
from .runs import Runs

_STORED = dict.fromkeys(("flows", "finished", *METRIC_KEYS)).keys()
"""Values of a class of flows."""
_MARK = b"PAR1"
"""The first and the last bytes of a Parquet file; before the last ones is the length of its footer."""


def per_run(results: Runs, keys: Sequence[str]) -> list[Record] | None:
    """One record per class and run, as of `weft.group_values.per_run`, if `keys` tell all of them apart by seed.

    None if they do not, if the runs were emulated, if values are missing or if a file of flows is damaged: then the
    flows are to be read. Only both ends of such a file are looked at. Raises `ResultsError` if a run lacks its flows.
    """
    heads = results.heads()
    if "class" not in keys or any("emulated" in head for head in heads.values()):
        return None
    if not all(map(_is_whole, results.files(FLOWS))):
        return None
    runs = results.run_columns()
    shared = {key: runs[column(key)] for key in (*keys, "seed", "run") if key != "class"}
    found: list[Record] = []
    for at, run in enumerate(results.finished):
        own = {key: values[at] for key, values in shared.items()}
        classes = heads[run.id].get("classes")
        if not isinstance(classes, dict) or not classes:
            return None
        for name, values in classes.items():
            if not isinstance(values, dict) or not all(_is_stored(values, key) for key in _STORED):
                return None
            found.append(own | {"class": name} | {key: values[key] for key in _STORED})
    several = len({tuple(record[key] for key in (*keys, "seed")) for record in found}) < len(found)
    return None if several else found


def _is_stored(values: dict[str, Any], key: str) -> bool:
    """Whether a class has this value: a number, or for a metric without flows none."""
    value = values.get(key, "missing")
    return isinstance(value, (int, float)) or (value is None and key in METRIC_KEYS)


def _is_whole(path: str) -> bool:
    """Whether a Parquet file has its beginning and its end."""
    with Path(path).open("rb") as file:
        begin = file.read(len(_MARK))
        size = file.seek(0, SEEK_END)
        file.seek(max(size - 8, 0))
        end = file.read()
    return begin == _MARK and end[4:] == _MARK and int.from_bytes(end[:4], "little") + 12 <= size
