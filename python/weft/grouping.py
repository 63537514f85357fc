"""The columns by which flows are grouped for a comparison."""

from collections.abc import Sequence

from .errors import ResultsError
from .runs import Runs


def group_keys(results: Runs, by: Sequence[str] | None) -> list[str]:
    """The columns to group by, validated; the short form of a swept key (``load``) is accepted."""
    if by is None:
        return [*results.dimensions, "class", "scheme"]
    known = {key.rpartition(".")[2]: key for key in results.keys}
    known |= {key: key for key in [*results.keys, "scheme", "class", "point"]}
    unknown = [key for key in by if key not in known]
    if unknown:
        have = ", ".join(dict.fromkeys(known.values()))
        raise ResultsError(f"cannot group by `{unknown[0]}`: these results have {have}")
    return list(dict.fromkeys(known[key] for key in by))
