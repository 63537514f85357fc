"""The emulated runs of a topology as a part of the study.

A run's directory has the usual layout (docs/results.md) but is written here, since a scenario cannot express "send for
so many seconds": `series.parquet` with the receiver's throughput and the links, `flows.parquet` with a row for every
subflow of the transfer, `summary.json`.
"""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...emulation import iperf, mptcp, openvswitch, requirements
from ...emulation.errors import EmulationError
from ...emulation.run import follow
from ...emulation.sweep import clear, workshop
from ...errors import OutputError
from ...results import Results
from ...topology import Fabric
from .. import layout
from ..base import Part, RunOptions
from .setup import Setup
from .topologies import RECEIVER, SENDER, fabric

CLASS = "transfer"
"""Class of the flows, and entity of the throughput series."""
_SHORTEST_S = 0.05
"""Half of iperf3's interval: shorter intervals are reports after the end."""
_INTERVAL_PS = round(iperf.INTERVAL_S * 1e12)
_BUILDING = 0.3
"""Share of a run's progress bar for building the network."""


class Transfers(Part):
    """The runs of one topology."""

    def __init__(self, name: str, setups: list[Setup]) -> None:
        self.name = name
        self.setups = setups

    def runs(self) -> int:
        """Number of runs."""
        return len(self.setups)

    def check(self) -> None:
        """Check that this machine meets the runs' requirements."""
        requirements.check(())
        openvswitch.check()
        mptcp.check()
        iperf.check()

    def carry_out(self, out: Path, options: RunOptions) -> Results:
        """Run one at a time, in real time."""
        on_event = options.progress
        layout.claim(out, self._index())
        failed = []
        with workshop(out) as directory:
            for setup in self.setups:
                target = out / "runs" / setup.id
                if (target / "summary.json").is_file():
                    on_event({"event": "run_skipped"})
                    continue
                try:
                    (directory / "options.json").write_text(json.dumps({"setup": setup.as_json()}), encoding="utf-8")
                    follow("weft.studies.smoc.inside", directory, _follower(setup, on_event))
                    write(setup, directory, target)
                except EmulationError as error:
                    failed.append(f"{setup.label}: {error}")
                    on_event({"event": "run_failed", "run_id": setup.id, "label": setup.label, "error": str(error)})
                else:
                    on_event({"event": "run_done", "run_id": setup.id, "label": setup.label, "fraction": 1.0})
                finally:
                    clear(directory)
        if failed:
            raise OutputError(f"{len(failed)} emulated runs failed; the first: {failed[0]}", begun=True)
        return Results(out)

    def _index(self) -> dict[str, Any]:
        return {
            "name": f"smoc, {self.name}",
            "description": "MPTCP through Open vSwitch, emulated",
            "baseline": None,
            "runs": [layout.entry(setup, setup.seed) | {"setup": setup.as_json()} for setup in self.setups],
        }


def write(setup: Setup, directory: Path, target: Path) -> None:
    """Write a run's result from the jail's output, atomically. Raises `OutputError` if it cannot be written."""
    observed = json.loads((directory / "observed.json").read_text(encoding="utf-8"))
    layout.write(
        target,
        flows(observed),
        series(setup, observed),
        fabric(setup.topology, setup.rate_bps),
        partial(summary, setup, observed),
    )


def flows(observed: dict[str, Any]) -> list[dict[str, Any]]:
    """The subflows of the transfer, without the control connection's; `bytes` are those acknowledged."""
    carried: Counter[str] = Counter()
    for one in observed["subflows"]:
        carried[one["connection"]] += one["acknowledged_bytes"]
    data = {connection for connection, _ in carried.most_common(observed["transfer"]["streams"])}
    paths = {
        subflow["source"]: " ".join(subflow["switches"])
        for connection in observed["controller"].get("connections", ())
        for subflow in connection["subflows"]
    }
    rows: list[dict[str, Any]] = []
    for one in sorted(observed["subflows"], key=lambda one: one["source"]):
        if one["connection"] not in data:
            continue
        path = paths.get(one["source"])
        rows.append(
            {
                "flow": len(rows),
                "src": SENDER,
                "dst": RECEIVER,
                "sport": int(one["source"].rpartition(":")[2]),
                "dport": int(one["destination"].rpartition(":")[2]),
                "class": CLASS,
                "bytes": one["acknowledged_bytes"],
                "start_ps": 0,
                "measured": True,
                "hops": None if path is None else len(path.split()) + 1,
                "retransmissions": one["retransmissions"],
                "path": path,
            }
        )
    return rows


def series(setup: Setup, observed: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The receiver's throughput over time while data was sent, the links, and the always active subflows."""
    arrived = [
        (round(one["end_s"] * 1e12), "throughput_bps", CLASS, one["bytes"] * 8 / (one["end_s"] - one["begin_s"]))
        for one in observed["transfer"]["intervals"]
        if one["begin_s"] < setup.seconds - _SHORTEST_S
    ]
    seen = [(row["time_ps"], row["metric"], row["entity"], row["value"]) for row in observed["series"]]
    active = float(len(flows(observed)))
    steps = range(1, round(setup.seconds / iperf.INTERVAL_S) + 1)
    sending = [(step * _INTERVAL_PS, "active_flows", "all", active) for step in steps]
    return sorted(arrived + seen + sending)


def summary(setup: Setup, observed: dict[str, Any], built: Fabric) -> dict[str, Any]:
    """`summary.json`, with the known part of the usual entries."""
    rates = {(link.source, link.target): link.rate_bps for link in built.links}
    links = [
        {
            "from": row["from"],
            "to": row["to"],
            "rate_bps": rates[row["from"], row["to"]],
            "delay_ps": 0,
            "bytes": row["bytes"],
            "window_bytes": row["bytes"],
            "packets": row["packets"],
            "drops": row["drops"],
            "max_queue_bytes": row["max_queue_bytes"],
            "utilisation": row["bytes"] * 8 / rates[row["from"], row["to"]] / setup.seconds,
            "up": True,
        }
        for row in observed["links"]
    ]
    rest = {key: value for key, value in observed.items() if key not in ("links", "series", "subflows")}
    sent = flows(observed)
    classes = {CLASS: _class(sent)} if sent else {}
    return layout.summary(setup, setup.seed, built, classes, round(setup.seconds * 1e12)) | {
        "setup": setup.as_json(),
        "transport": {
            "profile": "linux",
            "parameters": {"congestion_control": observed["stack"]["congestion"], "subflows": setup.subflows},
        },
        "interval_ps": _INTERVAL_PS,
        "links": links,
        "warnings": observed["warnings"],
        "emulated": rest,
    }


def _class(sent: list[dict[str, Any]]) -> dict[str, Any]:
    retransmissions = sum(row["retransmissions"] for row in sent)
    return layout.of_class(flows=len(sent), finished=0, retransmissions=retransmissions)


def _follower(setup: Setup, on_event: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    def follow(event: dict[str, Any]) -> None:
        if event.get("event") == "stage":
            share, label = float(event["fraction"]) * _BUILDING, f"{setup.label} ({event['stage']})"
        elif event.get("event") == "progress":
            share = _BUILDING + (1 - _BUILDING) * min(event["time_s"] / setup.seconds, 1.0)
            label = setup.label
        else:
            return
        on_event({"event": "progress", "run_id": setup.id, "label": label, "fraction": share})

    return follow
