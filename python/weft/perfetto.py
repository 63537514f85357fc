"""A run as a trace for Perfetto (ui.perfetto.dev) and Chrome: the Trace Event Format, as JSON.

A process for each host has the flows that it sends, in as few lanes as they need without overlap, and the steps of its
processors, of which those that are busy one after the other share a lane. A process named `collectives` has the rounds
of each group of these, in lanes as well, one named `network` the failures and other events. Times are in microseconds.
"""

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from . import quantity
from .one_run import Run
from .results import Results

_NETWORK, _COLLECTIVES, _FIRST_HOST = 1, 2, 3
"""Process ids."""
_FIRST_PROCESSOR = 1 << 20
"""Thread id of a host's processors, after the lanes of its flows."""
_DETAILS = ("flow", "class", "bytes", "retransmissions", "path")

Event = dict[str, Any]


def trace(results: Results, run: Run) -> str:
    """The flows, collectives and events of a finished run, as the text of a JSON file with a line for each event."""
    summary = run.summary()
    of_run = results.only([run.id])
    flows = of_run.flows(measured=False).filter(pl.col("fct_ps").is_not_null())
    work = of_run.work().filter(pl.col("end_ps").is_not_null())
    hosts = {name: _FIRST_HOST + at for at, name in enumerate(sorted({*flows["src"], *work["host"]}))}
    named = (_named("process_name", pid, 0, host) for host, pid in hosts.items())
    events = [*_network(summary), *_collectives(summary), *named, *_flows(flows, hosts), *_work(work, hosts)]
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n'


def lanes(spans: Iterable[tuple[int, int]]) -> list[int]:
    """A lane for each span of time, given by start and end in order of start: the lowest one that is free."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    chosen, count = [], 0
    for start, end in spans:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, count = count, count + 1
        heapq.heappush(busy, (end, lane))
        chosen.append(lane)
    return chosen


def _network(summary: Mapping[str, Any]) -> Iterator[Event]:
    events: Sequence[Mapping[str, Any]] = summary.get("events", [])
    if events:
        yield _named("process_name", _NETWORK, 0, "network")
    for event in events:
        name = f"{event['change']} {event['target']}"
        yield {"ph": "i", "s": "g", "pid": _NETWORK, "tid": 0, "ts": _us(event["at_ps"]), "name": name}


def _collectives(summary: Mapping[str, Any]) -> Iterator[Event]:
    rounds = [entry for entry in summary.get("collectives", []) if entry["completion_ps"] is not None]
    if rounds:
        yield _named("process_name", _COLLECTIVES, 0, "collectives")
    thread = 0
    titles: Counter[str] = Counter()
    for group in sorted({entry["group"] for entry in rounds}):
        of_group = sorted((one for one in rounds if one["group"] == group), key=lambda one: one["start_ps"])
        lane_of = lanes((one["start_ps"], one["start_ps"] + one["completion_ps"]) for one in of_group)
        title = of_group[0]["class"] or of_group[0]["kind"]
        for lane in range(max(lane_of) + 1):
            number = titles[title]
            titles[title] += 1
            yield _named("thread_name", _COLLECTIVES, thread + lane, f"{title} {number}" if number else title)
        for lane, entry in zip(lane_of, of_group, strict=True):
            details = {key: entry.get(key) for key in ("bytes", "ranks", "ratio", "bound_by", "bus_bps")}
            name = f"{entry['kind']}, round {entry['round']}"
            start, took = entry["start_ps"], entry["completion_ps"]
            yield _slice(_COLLECTIVES, thread + lane, name, start, took, details)
        thread += max(lane_of) + 1


def _flows(flows: pl.DataFrame, hosts: Mapping[str, int]) -> Iterator[Event]:
    known = [name for name in _DETAILS if name in flows.columns]
    columns = ["src", "dst", "bytes", "start_ps", "fct_ps"]
    of_hosts = flows.with_columns(pl.col("src").cast(pl.String)).sort("src", "start_ps", "flow")
    for sent in of_hosts.partition_by("src", maintain_order=True):
        pid = hosts[sent["src"][0]]
        spans = zip(sent["start_ps"], sent["start_ps"] + sent["fct_ps"], strict=True)
        rows = zip(sent.select(columns).iter_rows(), sent.select(known).iter_rows(named=True), strict=True)
        for lane, ((_, dst, size, start, took), details) in zip(lanes(spans), rows, strict=True):
            text = {key: value if isinstance(value, int) else str(value) for key, value in details.items()}
            yield _slice(pid, lane, f"to {dst}, {quantity.size(size)}", start, took, text)


def _work(work: pl.DataFrame, hosts: Mapping[str, int]) -> Iterator[Event]:
    """The steps of processors, which follow each other on each; those of a kind have as few lanes as they need."""
    spans = work.group_by("host", "kind", "processor").agg(pl.min("start_ps"), pl.max("end_ps"))
    thread = _FIRST_PROCESSOR
    for processors in spans.sort("host", "kind", "start_ps", "processor").partition_by("host", "kind"):
        host, kind = processors.row(0)[:2]
        lane_of = lanes(zip(processors["start_ps"], processors["end_ps"], strict=True))
        for lane in range(max(lane_of) + 1):
            yield _named("thread_name", hosts[host], thread + lane, f"{kind} {lane}")
        joined = processors.select("host", "kind", "processor", lane=pl.Series(lane_of, dtype=pl.Int64))
        steps = work.join(joined, on=["host", "kind", "processor"], maintain_order="left")
        for row in steps.iter_rows(named=True):
            start, end = row["start_ps"], row["end_ps"]
            details = {name: row[name] for name in ("step", "processor", "job")}
            details["waited_us"] = _us(start - row["ready_ps"])
            yield _slice(hosts[host], thread + row["lane"], kind, start, end - start, details)
        thread += max(lane_of) + 1


def _slice(pid: int, tid: int, name: str, start: int, took: int, details: Mapping[str, Any]) -> Event:
    times = {"ts": _us(start), "dur": _us(took)}
    return {"ph": "X", "pid": pid, "tid": tid, **times, "name": name, "args": dict(details)}


def _named(kind: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "pid": pid, "tid": tid, "name": kind, "args": {"name": name}}


def _us(time_ps: int) -> float:
    """Picoseconds in microseconds: exact up to 2^53 ps, 2.5 hours, in the last digit that JSON prints."""
    return time_ps / 1e6
