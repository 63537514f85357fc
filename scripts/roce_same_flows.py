"""Prints the table "The same flows" of docs/transport.md: RoCE's congestion controls beside other simulators.

`python scripts/roce_same_flows.py [hpcc] [timely] [swift]`: runs Weft (default: all three, half a minute) and
prints the rows. docs/transport.md says how the other simulators' figures were measured.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from weft import quantity
from weft.results import Results
from weft.scenario import Scenario


@dataclass(frozen=True)
class Control:
    """A congestion control and its incasts."""

    title: str
    packet_bytes: int
    """Payload of a packet, so that it takes as many bytes on the wire as the other simulator's."""
    overhead: str
    delay_us: int
    parameters: str
    rows: tuple["Row", ...]

    @property
    def name(self) -> str:
        """Its name in scenarios."""
        return self.title.lower()


@dataclass(frozen=True)
class Row:
    """Senders that start at once, packets of each, the rate of links in Gbps, and the other simulator's figures."""

    senders: int
    packets: int
    rate: int
    last: float
    """When the last flow is acknowledged, in microseconds."""
    mean: float
    queue: float
    """The mean queue at the receiver's port in bytes, with half of the packet that leaves."""


CONTROLS = (
    Control(
        "HPCC",
        990,
        "ppp",
        1,
        'base_rtt = "4.16 us"\nhpcc_increase = "26 B"',
        (
            Row(2, 4000, 100, 739.7, 734.3, 1270),
            Row(8, 4000, 100, 2963.0, 2754.1, 4370),
            Row(16, 4000, 100, 5913.4, 5553.4, 7780),
        ),
    ),
    Control(
        "TIMELY",
        998,
        "ppp",
        5,
        'base_rtt = "20 us"\ntimely_segment = "998 B"\ntimely_hyper_after = 4294967295',
        (
            Row(2, 10000, 10, 24005.7, 23873.0, 4960),
            Row(4, 10000, 10, 40521.3, 38665.1, 9320),
            Row(10, 10000, 10, 93678.1, 91590.1, 64720),
        ),
    ),
    Control(
        "Swift",
        4096,
        "ethernet-frame",
        1,
        'loss_recovery = "selective-repeat"\nwindow = "100 MB"\nrto_low = "10 ms"\nrto_high = "10 ms"\n'
        'swift_hop_target = "0 s"',
        (
            Row(1, 1000, 100, 338.7, 338.7, 2030),
            Row(2, 1000, 100, 669.6, 669.5, 178500),
            Row(10, 500, 100, 1667.5, 1661.1, 304800),
            Row(32, 500, 100, 5330.6, 5299.7, 421400),
            Row(10, 500, 10, 16639.4, 16542.3, 58500),
            Row(32, 300, 10, 31940.8, 30707.3, 136900),
            Row(100, 300, 10, 99799.4, 74443.8, 250200),
        ),
    ),
)
INTERVAL = 1_000_000
"""From one sample of the queue to the next, in picoseconds."""
ACK_BYTES = 66
"""An acknowledgement in a frame."""


def scenario(control: Control, row: Row) -> str:
    """The incast as a scenario, with its flows in `flows.csv`."""
    return f"""name = "incast"
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = {row.senders + 1}
rate = "{row.rate} Gbps"
delay = "{control.delay_us} us"
queue = "8 MB"
host_queue = "unlimited"
overhead = "{control.overhead}"
[traffic]
trace = "flows.csv"
[scheme]
name = "ecmp"
[transport]
protocol = "roce"
congestion_control = "{control.name}"
mtu = {control.packet_bytes}
{control.parameters}
[run]
limit = "1 s"
[measure]
interval = "1 us"
"""


def measured(control: Control, row: Row, folder: Path) -> tuple[float, float, float]:
    """The last and the mean completion at the senders in microseconds, and the mean queue in bytes."""
    bytes_ = row.packets * control.packet_bytes
    flows = [f"h{sender},h{row.senders},{bytes_},0 s\n" for sender in range(row.senders)]
    (folder / "flows.csv").write_text("src,dst,bytes,start\n" + "".join(flows), encoding="utf-8")
    path = folder / "incast.toml"
    path.write_text(scenario(control, row), encoding="utf-8")
    results = Scenario.from_file(path).run(folder / "results")
    return figures(results, control, row)


def figures(results: Results, control: Control, row: Row) -> tuple[float, float, float]:
    """The figures of a run."""
    ends = results.flows(measured=False)["end_ps"].to_list()
    if None in ends:
        raise SystemExit(f"error: {control.name}, {row.senders} senders: some flows did not finish")
    last = max(ends)
    at_port = (pl.col("entity") == f"l0->h{row.senders}") & (pl.col("time_ps") <= last)
    queues = results.series("queue_bytes").filter(at_port)["value"].to_list()
    way = 2 * control.delay_us + 2 * ACK_BYTES * 8 / row.rate / 1000
    return last / 1e6 + way, sum(ends) / len(ends) / 1e6 + way, sum(queues) * INTERVAL / last


def line(control: Control, row: Row, folder: Path) -> str:
    """The row of the page."""
    ours, theirs = measured(control, row, folder), (row.last, row.mean, row.queue)
    cells = [
        f"{value:.0f}, {other:.0f} ({quantity.change(round(value / other - 1, 3) + 0.0)})"
        for value, other in zip(ours, theirs, strict=True)
    ]
    return f"| {control.title} | {row.senders} | {row.rate} Gbps | {' | '.join(cells)} |"


def rows(names: list[str]) -> Iterator[str]:
    """The lines of the table, each when its run is done."""
    yield "| control | senders | links | last, us | mean, us | queue, bytes |"
    yield "|---|---|---|---|---|---|"
    for control in CONTROLS:
        if names and control.name not in names:
            continue
        for row in control.rows:
            with tempfile.TemporaryDirectory(prefix="weft-same-flows-") as folder:
                yield line(control, row, Path(folder))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [control.name for control in CONTROLS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    names = parser.parse_args().names
    for name in names:
        if name not in known:
            parser.error(f"{name}: expected {', '.join(known)}")
    for text in rows(names):
        print(text, flush=True)


if __name__ == "__main__":
    main()
