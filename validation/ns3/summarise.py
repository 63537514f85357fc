#!/usr/bin/env python3
"""Means per class over the workload seeds: of the stored ns-3 results, or compared with another simulator's.

    summarise.py                 writes reference/summary.csv
    summarise.py DIR [PATTERN]   compares DIR/<case>.csv (columns flow and fct_ps at least) with reference/<case>.csv
    summarise.py --markdown DIR DIR   writes comparison.md: the engine's results, and those in ns-3's order of events

Standard library only. Flows without an FCT are unfinished and excluded from means. `sd` is the standard deviation of
the per-seed means: two equivalent simulators may differ by about that much due to packet order alone.
"""

from __future__ import annotations

import csv
import fnmatch
import statistics
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
CLASSES = ("mouse", "rabbit", "elephant", "all")


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file with a header."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def group_of(run: dict[str, str]) -> tuple[str, ...]:
    """Workload without its seed, fabric, scheme, TCP."""
    workload = run["flows"].rsplit("-", 1)[0]
    return workload, run["fabric"], run["scheme"], run["tcp"]


def means(directory: Path, runs: list[dict[str, str]]) -> dict[tuple[str, ...], dict[str, float]]:
    """Statistics of each (group, class), including the class `all`."""
    seeds: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    with_rto: dict[tuple[str, ...], int] = defaultdict(int)
    retransmitted: dict[tuple[str, ...], int] = defaultdict(int)
    for run in runs:
        group = group_of(run)
        size_class = {row["flow"]: row["class"] for row in read(HERE / "cases" / f"{run['flows']}.flows.csv")}
        fcts: dict[str, list[float]] = defaultdict(list)
        for row in read(directory / f"{run['case']}.csv"):
            for name in (size_class[row["flow"]], "all"):
                key = (*group, name)
                if row["fct_ps"]:
                    fcts[name].append(int(row["fct_ps"]) / 1e6)
                with_rto[key] += int(row.get("rtos") or 0) > 0
                retransmitted[key] += int(row.get("retransmitted") or 0)
        for name in CLASSES:
            if fcts[name]:
                seeds[(*group, name)].append(fcts[name])
    table: dict[tuple[str, ...], dict[str, float]] = {}
    for key, per_seed in seeds.items():
        every = [fct for values in per_seed for fct in values]
        table[key] = {
            "flows": len(every),
            "mean_us": statistics.fmean(every),
            "sd_us": statistics.stdev(map(statistics.fmean, per_seed)) if len(per_seed) > 1 else 0.0,
            "median_us": statistics.median(every),
            "p95_us": sorted(every)[int(0.95 * (len(every) - 1))],
            "flows_with_rto": with_rto[key],
            "retransmitted": retransmitted[key],
        }
    return table


def write_summary(runs: list[dict[str, str]]) -> None:
    """Write reference/summary.csv from the stored results."""
    table = means(HERE / "reference", runs)
    with (HERE / "reference" / "summary.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        columns = list(next(iter(table.values())))
        rows.writerow(("workload", "fabric", "scheme", "tcp", "class", *columns))
        for key, numbers in table.items():
            rows.writerow((*key, *(f"{v:.1f}" if isinstance(v, float) else v for v in numbers.values())))


def compare(directory: Path, runs: list[dict[str, str]]) -> None:
    """Print the means of `directory` and the stored ones, for the runs that it contains."""
    present = [run for run in runs if (directory / f"{run['case']}.csv").exists()]
    ours, theirs = means(directory, present), means(HERE / "reference", present)
    print(
        f"{'workload':12} {'fabric':21} {'scheme':11} {'tcp':12} {'class':8} "
        f"{'ns-3 us':>10} {'sd':>8} {'here us':>10} {'ratio':>6}"
    )
    for key, ns3 in theirs.items():
        if key in ours:
            mean = ours[key]["mean_us"]
            print(
                f"{key[0]:12} {key[1]:21} {key[2]:11} {key[3]:12} {key[4]:8} "
                f"{ns3['mean_us']:10.1f} {ns3['sd_us']:8.1f} {mean:10.1f} {mean / ns3['mean_us']:6.3f}"
            )


def write_comparison(engine: Path, in_order: Path, runs: list[dict[str, str]]) -> None:
    """Write comparison.md."""
    ns3, ours, ordered = (means(path, runs) for path in (HERE / "reference", engine, in_order))
    with (HERE / "comparison.md").open("w") as out:
        out.write("# Mean completion times by class, Weft and ns-3.37\n\n")
        out.write(
            "Written by `summarise.py --markdown`. `in order`: with simultaneous events in ns-3's order."
            " `sd`: standard\n"
        )
        out.write("deviation of the per-seed means. `RTO`: flows with a timeout in ns-3.\n\n")
        out.write("| case | class | flows | RTO | ns-3, us | sd, us | Weft, us | ratio | in order, us | ratio |\n")
        out.write("|---|---|---|---|---|---|---|---|---|---|\n")
        for key, row in ns3.items():
            mean, here, there = (table[key]["mean_us"] for table in (ns3, ours, ordered))
            out.write(
                f"| {'.'.join(key[:4])} | {key[4]} | {row['flows']} | {row['flows_with_rto']} | {mean:.1f} "
                f"| {row['sd_us']:.1f} | {here:.1f} | {here / mean:.3f} | {there:.1f} | {there / mean:.3f} |\n"
            )


def main() -> int:
    """Command line, see the top of the file."""
    runs = read(HERE / "cases" / "runs.csv")
    if len(sys.argv) == 1:
        write_summary(runs)
        return 0
    if sys.argv[1] == "--markdown" and len(sys.argv) == 4:
        write_comparison(Path(sys.argv[2]), Path(sys.argv[3]), runs)
        return 0
    directory, pattern = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "*"
    if not directory.is_dir():
        print(f"summarise.py: {directory} is not a directory", file=sys.stderr)
        return 2
    compare(directory, [run for run in runs if fnmatch.fnmatch(run["case"], pattern)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
