"""Path selection and its overhead, one row per point and scheme; the impact of each event; collectives.

Means over seeds with their 95 % intervals, from ``summary.json`` and the sampled table sizes of the switches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from .difference import FIXED, LEFT_OUT, NOT_SIGNIFICANT, SIGNIFICANT, Difference, corrected, difference
from .one_run import Run
from .runs import Runs
from .statistics import Estimate, estimate
from .steadiness import Mark, marks

Json = Mapping[str, Any]
PARTS = ("compute", "delay", "network", "queueing", "acknowledgement", "delayed_start")
"""Parts of a critical path, in the order in which they are shown."""


@dataclass(frozen=True)
class Column:
    """A measure of a run or of an event."""

    key: str
    title: str
    kind: str
    """A kind of quantity, see `weft.quantity.FORMATS`."""
    value: Callable[[Json], float | None]
    """Computes the measure from the summary of a run (see `sampled`), an event or a collective; None if undefined."""


@dataclass(frozen=True)
class Row:
    """A point and scheme (and event or collective, in their tables), with an estimate for each column."""

    point: str
    scheme: str
    event: str
    estimates: dict[str, Estimate | None]
    collective: str = ""
    differences: dict[str, Difference | None] = field(default_factory=dict)
    """For collectives, the difference of each column from the baseline's in the same seeds; empty without a baseline or
    if one side is marked."""
    mark: Mark | None = None
    """Why its means are not shown, if runs of this point and scheme were not in a steady state."""


_SIZES = "table_sizes"
"""Key under which `sampled` adds a run's table sizes (see `weft.reduction.table_sizes`) to its summary."""
_FLOOD_BYTES = ("exploration_bytes", "broadcast_bytes")


def into_leaves(summary: Json) -> list[dict[str, Any]]:
    """The links into the lowest-tier switches, which are not those of scale-up domains (tier 0)."""
    switches = [node for node in summary["nodes"] if node["role"] == "switch" and node["tier"]]
    lowest = min((node["tier"] for node in switches), default=0)
    leaves = {node["name"] for node in switches if node["tier"] == lowest}
    return [link for link in summary["links"] if link["to"] in leaves]


def flood_ratio(summary: Json, *kinds: str) -> float | None:
    """Flooded bytes into the lowest-tier switches over all other bytes; kinds: ``exploration``, ``broadcast``."""
    into = into_leaves(summary)
    if any(link[key] is None for link in into for key in ("bytes", *_FLOOD_BYTES) if key in link):
        return None
    floods = {kind: sum(link.get(f"{kind}_bytes", 0) for link in into) for kind in ("exploration", "broadcast")}
    data = sum(link["bytes"] for link in into) - sum(floods.values())
    return sum(floods[kind] for kind in kinds) / data if data else None


def sampled(results: Runs) -> Callable[[Run, Json], Json]:
    """Adds the sizes of the switches' tables to the summary of a run."""
    sizes = {row["run"]: row for row in results.aggregates.samples("tables").iter_rows(named=True)}
    return lambda run, summary: {**summary, _SIZES: sizes[run.id]}


def mean_entries(summary: Json, metric: str = "flow_entries") -> float | None:
    """Entries in a switch's table, averaged over all switches and all samples in the measurement window.

    The samples are those after the window's start, up to its end or that of the run: table sizes after the run are
    unknown. None without a sample. A switch without a row at a sample time had an empty table. An emulation samples
    irregularly, so all times with a row count. `summary` has the sizes that `sampled` adds, `metric` is one of
    `weft.reduction.TABLE_SIZES`.
    """
    start, end = summary["window_ps"]
    end, interval = min(end, summary["simulated_ps"]), summary["interval_ps"]
    sizes = summary[_SIZES]
    samples = (sizes[f"{metric}_times"] or 0) if "emulated" in summary else end // interval - start // interval
    total = sizes[f"{metric}_sum"] or 0.0
    return float(total) / (samples * summary["fabric"]["switches"]) if samples > 0 else None


def most_entries(summary: Json) -> float | None:
    """The largest table of any switch at any sample; None for an emulation without samples. See `mean_entries`."""
    most = summary[_SIZES]["flow_entries_most"]
    return None if most is None and "emulated" in summary else float(most or 0)


def _over_classes(summary: Json, key: str) -> float | None:
    """The sum over all classes; None if unknown for any class."""
    counts = [row.get(key, 0) for row in summary["classes"].values()]
    return None if None in counts else float(sum(counts))


def mean_exploration(summary: Json) -> float | None:
    """Mean duration of an exploration in seconds, over all flows explored."""
    count = _over_classes(summary, "explored")
    classes = summary["classes"].values()
    total = sum((row.get("mean_exploration_s") or 0) * (row.get("explored") or 0) for row in classes)
    return total / count if count else None


def _late_copies(summary: Json) -> float | None:
    flows = summary["counters"]["flows_started"]
    return summary["counters"]["packets_dropped"].get("late_copy", 0) / flows if flows else None


def _per_move(summary: Json) -> float | None:
    moves, late = _over_classes(summary, "moves"), _over_classes(summary, "out_of_order_moved")
    return late / moves if moves and late is not None else None


COLUMNS = (
    Column("path_evenness", "Path evenness", "ratio", lambda s: s.get("path_evenness")),
    Column("explored", "Explorations per run", "count", lambda s: _over_classes(s, "explored")),
    Column("exploration_s", "Mean exploration time", "s", mean_exploration),
    Column("late_copies", "Late copies per flow", "ratio", _late_copies),
    Column("exploration_share", "Exploration traffic", "share", lambda s: flood_ratio(s, "exploration")),
    Column("broadcast_share", "Broadcast traffic", "share", lambda s: flood_ratio(s, "broadcast")),
    Column("flow_entries", "Flow entries per switch", "count", mean_entries),
    Column("most_flow_entries", "Max flow entries", "count", most_entries),
    Column("moves", "Path changes per run", "count", lambda s: _over_classes(s, "moves")),
    Column("out_of_order_per_move", "Reordered segments per path change", "ratio", _per_move),
)
"""Path selection: floods are counted into the lowest-tier switches, table entries in all switches."""


def _event(key: str, scale: float = 1.0) -> Callable[[Json], float | None]:
    return lambda event: None if event.get(key) is None else event[key] * scale


EVENT_COLUMNS = (
    Column("frames_lost", "Frames lost", "count", _event("frames_lost")),
    Column("flows_hit", "Flows hit", "count", _event("flows_hit")),
    Column("recovery_s", "Last loss after", "s", _event("recovery_ps", 1e-12)),
    Column("paths_broken", "Paths broken", "count", _event("paths_broken")),
    Column("paths_recovered", "Paths recovered", "count", _event("paths_recovered")),
    Column("mean_path_recovery_s", "Mean path recovery", "s", _event("mean_path_recovery_ps", 1e-12)),
    Column("longest_path_recovery_s", "Max path recovery", "s", _event("longest_path_recovery_ps", 1e-12)),
    Column("flows_resumed", "Flows resumed", "count", _event("flows_resumed")),
    Column("mean_resumption_s", "Mean time to resume", "s", _event("mean_resumption_ps", 1e-12)),
    Column("longest_resumption_s", "Max time to resume", "s", _event("longest_resumption_ps", 1e-12)),
)
"""Impact of an event, until the next one."""


def _completion(of: Callable[[Sequence[float]], float], key: str, scale: float) -> Callable[[Json], float | None]:
    """A measure of the rounds of a collective; None unless all were completed."""

    def value(collective: Json) -> float | None:
        values = [job.get(key) for job in collective["rounds"]]
        return None if None in values else of(values) * scale

    return value


def _within(table: str, key: str) -> Callable[[Json], float | None]:
    """The mean over the rounds of a time in a table of theirs, in seconds; None unless all were completed."""

    def value(collective: Json) -> float | None:
        values: list[Any] = [(job.get(table) or {}).get(key) for job in collective["rounds"]]
        return None if None in values else fmean(values) * 1e-12

    return value


def _exposed(collective: Json) -> float | None:
    """The mean exposed communication of a rank; None where no processor computes: all communication is exposed."""
    return _within("ranks_mean", "exposed_ps")(collective) if _within("ranks_mean", "compute_ps")(collective) else None


COLLECTIVE_COLUMNS = (
    Column("completion_s", "Mean completion time", "s", _completion(fmean, "completion_ps", 1e-12)),
    Column("longest_completion_s", "Max completion time", "s", _completion(max, "completion_ps", 1e-12)),
    Column("bound_s", "Lower bound", "s", _completion(fmean, "bound_ps", 1e-12)),
    Column("bound_ratio", "Times the bound", "ratio", _completion(fmean, "ratio", 1.0)),
    Column("bus_bps", "Mean bus bandwidth", "bps", _completion(fmean, "bus_bps", 1.0)),
    Column("exposed_s", "Exposed communication", "s", _exposed),
    Column("unfinished", "Unfinished rounds per run", "count", lambda group: float(_unfinished(group))),
)
"""Rounds of a collective, or a trace whose flows wait for each other."""
PART_COLUMNS = tuple(
    Column(f"path_{part}_s", part.replace("_", " ").capitalize(), "s", _within("critical_path", f"{part}_ps"))
    for part in PARTS
)
"""Parts of the critical path of a round."""
COMPARED_COLUMNS = ("completion_s", "longest_completion_s", "bound_ratio")
"""Columns where lower is better; their differences from the baseline are shown."""


def _unfinished(collective: Json) -> int:
    return sum(job["completion_ps"] is None for job in collective["rounds"])


def choices(results: Runs) -> list[Row]:
    """Path selection by point and scheme; empty unless some run flooded or explored."""
    heads, links = results.heads(), results.aggregates.links()
    floods = [name for name in ("broadcasts", "explorations") if name in links.columns]
    flooded = any((links[name].cast(int) > 0).any() for name in floods)
    if not flooded and not any(_over_classes(head, "explored") for head in heads.values()):
        return []
    with_sizes = sampled(results)
    return _rows(results, COLUMNS, lambda run: {"": with_sizes(run, run.summary())})


def events(results: Runs) -> list[Row]:
    """Impact of each event, by point, event and scheme; empty without events."""
    heads = results.heads()
    parts = {run: {_label(event): event for event in head.get("events", ())} for run, head in heads.items()}
    rows = _rows(results, EVENT_COLUMNS, lambda run: parts[run.id])
    order = {name: at for at, name in enumerate(dict.fromkeys(row.event for row in rows))}
    points = {name: at for at, name in enumerate(results.points)}
    return sorted(rows, key=lambda row: (points[row.point], order[row.event]))


def collectives(results: Runs, baseline: str | None = None) -> list[Row]:
    """Completion of each collective, by point, collective and scheme; empty without collectives.

    Others are compared with `baseline`, a label of `Results.schemes`, seed by seed.
    """
    named: dict[str, tuple[int, str]] = {}

    def parts(head: Json) -> dict[str, Json]:
        groups: dict[tuple[int, str], list[Json]] = {}
        for job in head.get("collectives", ()):
            groups.setdefault((job["group"], job["class"] or job["kind"]), []).append(job)
        labelled = {f"{at}. {name}": (at, name) for at, name in groups}
        named.update(labelled)
        return {label: {"rounds": groups[group]} for label, group in labelled.items()}

    by_run = {run: parts(head) for run, head in results.heads().items()}
    rows = _rows(results, (*COLLECTIVE_COLUMNS, *PART_COLUMNS), lambda run: by_run[run.id])
    if baseline is not None:
        rows = _compared(results, rows, by_run, baseline)
    several = len({row.event for row in rows}) > 1
    points = {name: at for at, name in enumerate(results.points)}
    rows.sort(key=lambda row: (points[row.point], named[row.event][0]))
    return [replace(row, event="", collective=row.event if several else named[row.event][1]) for row in rows]


def _compared(results: Runs, rows: Sequence[Row], parts: Mapping[str, Mapping[str, Json]], baseline: str) -> list[Row]:
    """The rows with their differences from the baseline, over the seeds in which both finished all rounds."""
    columns = [column for column in COLLECTIVE_COLUMNS if column.key in COMPARED_COLUMNS]
    found: dict[tuple[str, str, str], dict[int, Json]] = {}
    for run in results.finished:
        for name, part in parts[run.id].items():
            found.setdefault((run.point, run.scheme, name), {})[run.seed] = part

    marked = {(row.point, row.scheme) for row in rows if row.mark is not None}

    def of(row: Row) -> dict[str, Difference | None]:
        own, other = (found.get((row.point, name, row.event), {}) for name in (row.scheme, baseline))
        shared = own.keys() & other.keys()
        if row.scheme == baseline or not shared or marked & {(row.point, row.scheme), (row.point, baseline)}:
            return {}
        left_out = (sum(_unfinished(own[seed]) for seed in shared), sum(_unfinished(other[seed]) for seed in shared))

        def values(side: Mapping[int, Json], column: Column) -> dict[int, float | None]:
            return {seed: column.value(side[seed]) for seed in shared}

        return {c.key: difference(values(own, c), values(other, c), left_out, kind=c.kind) for c in columns}

    compared = [replace(row, differences=of(row)) for row in rows]
    for point in results.points:
        corrected(row.differences for row in compared if row.point == point)
    return compared


def note(rows: Sequence[Row], baseline: str | None) -> str:
    """The note below a table of `collectives`; empty without differences."""
    found = [one for row in rows for one in row.differences.values() if one]
    if not found:
        return ""
    text = f"Signed: difference from {baseline}, same seed."
    if any(one.vague for one in found):
        text += f" {NOT_SIGNIFICANT}: the 95 % interval contains zero."
    if any(one.adjusted is not None and not one.change.is_fixed for one in found):
        text += f" {SIGNIFICANT}: significant at 5 % after Holm's correction for all differences at a point."
    if any(one.change.is_fixed for one in found):
        text += f" {FIXED}"
    if any(any(one.unfinished) for one in found):
        text += f" {LEFT_OUT}: seeds in which one side left rounds unfinished are left out."
    return text


def _label(event: Json) -> str:
    return f"{event['at_ps'] / 1e12:g} s: {event['change'].replace('_', ' ')} {event['target']}"


def _rows(results: Runs, columns: Sequence[Column], parts: Callable[[Run], Mapping[str, Json]]) -> list[Row]:
    found: dict[tuple[str, str, str], dict[str, list[float | None]]] = {}
    for run in results.finished:
        for name, part in parts(run).items():
            lists = found.setdefault((run.point, run.scheme, name), {column.key: [] for column in columns})
            for column in columns:
                lists[column.key].append(column.value(part))
    mark = marks(results, ["point", "scheme"])
    return [
        Row(point, scheme, event, {k: estimate(values) for k, values in lists.items()}, mark=mark.get((point, scheme)))
        for (point, scheme, event), lists in found.items()
    ]


def telling(rows: Sequence[Row], columns: Sequence[Column]) -> list[Column]:
    """The columns with a nonzero value in any row."""
    return [c for c in columns if any((one := row.estimates[c.key]) is not None and one.mean for row in rows)]


def leads(rows: Sequence[Row]) -> list[str]:
    """The leading columns besides the scheme: ``point``, ``event`` and ``collective``, if any row has them."""
    return [key for key in ("point", "event", "collective") if any(getattr(row, key) for row in rows)]


def as_dict(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The table as plain data for JSON."""
    return [
        {"point": row.point, "scheme": row.scheme, "mark": None if row.mark is None else row.mark.as_dict()}
        | {key: name for key in ("event", "collective") if (name := getattr(row, key))}
        | {"metrics": {key: one.as_dict() if one else None for key, one in row.estimates.items()}}
        | ({"differences": {key: _change(one) for key, one in row.differences.items()}} if row.differences else {})
        for row in rows
    ]


def _change(one: Difference | None) -> dict[str, Any] | None:
    """A difference as plain data."""
    if one is None:
        return None
    ratio = None if one.ratio is None else one.ratio.as_dict()
    return {"difference": one.absolute.as_dict(), "ratio": ratio, "p": one.p, "p_adjusted": one.adjusted}
