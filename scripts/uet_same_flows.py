"""Prints the table "With the same flows" of docs/uet-validation.md: the study's set-ups with uet-htsim's own matrices.

`python scripts/uet_same_flows.py HTSIM [ROW...]`: HTSIM is a checkout of uet-htsim, which need not be built; rows are
those of the study (default: all). 16 seeds of set-ups with up to 128 hosts, 3 of the others: 2 minutes of CPU time.
`--seeds FEW LARGE` changes these numbers.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from weft import quantity
from weft.results import Results
from weft.scenario import Scenario
from weft.studies.uet_validation import setups, table
from weft.studies.uet_validation.published import LIMITS, Limit

DATACENTER = Path("htsim/sim/datacenter")
"""The directory of lists and matrices in a checkout."""
LISTS = {"U": "validate_uec_sender.txt", "B": "validate_load_balancing_snd.txt"}
"""The list of the rows whose names begin with this letter."""
MATRIX = "flows.cm"
SEEDS = (16, 3)
_START = re.compile(r"\bstart (\d+)")


def matrices(datacenter: Path) -> dict[str, Path]:
    """The matrix of each row: the experiments of a list are numbered from 1."""
    found: dict[str, Path] = {}
    for letter, name in LISTS.items():
        lines = (datacenter / name).read_text(encoding="utf-8").splitlines()
        experiments = [line.strip() for line in lines if line.strip() and not line.startswith("!")]
        found |= {f"{letter}{number}": datacenter / path for number, path in enumerate(experiments, 1)}
    return found


def converted(matrix: str) -> str:
    """The matrix with starts in picoseconds, as Weft reads them; the lists' are in microseconds."""
    return _START.sub(lambda start: f"start {int(start[1]) * 1_000_000}", matrix)


def measured(limit: Limit, matrix: Path, seeds: tuple[int, int], folder: Path) -> list[float]:
    """The completion times of a row in microseconds, one for each seed, in an empty directory."""
    setup = next(setup for setup in setups.SETUPS if setup.name == limit.setup)
    number = seeds[setup.network.hosts >= setups.LARGE]
    (folder / MATRIX).write_text(converted(matrix.read_text(encoding="utf-8")), encoding="utf-8")
    scenario = folder / f"{setup.name}.toml"
    own = replace(setup, flows=f'trace = "{MATRIX}"')
    scenario.write_text(setups.text(own, number), encoding="utf-8")
    Scenario.from_file(scenario).run(folder / "results")
    found = table.gather({setup.name: Results(folder / "results")})
    if found["unfinished"].sum():
        raise SystemExit(f"error: {limit.ident}: some flows did not finish")
    return found.select(pl.col(limit.of)).to_series().to_list()


def line(limit: Limit, times: list[float]) -> str:
    """The row of the page."""
    mean, theirs = sum(times) / len(times), limit.htsim
    ours = _range(mean, min(times), max(times))
    # Without a sign if it rounds to 0.
    difference = round(mean / theirs.mean - 1, 3) + 0.0
    published = _range(theirs.mean, theirs.least, theirs.greatest)
    return f"| {limit.ident} | {ours} | {published} | {quantity.change(difference)} |"


def _range(*values: float) -> str:
    mean, least, greatest = (f"{value:.1f}" if value < 1000 else f"{value:.0f}" for value in values)
    return f"{mean} ({least} to {greatest})"


def rows(checkout: Path, names: list[str], seeds: tuple[int, int]) -> Iterator[str]:
    """The lines of the table, each when its runs are done."""
    all_matrices = matrices(checkout / DATACENTER)
    yield "| row | Weft | uet-htsim | difference |"
    yield "|---|---|---|---|"
    for limit in LIMITS:
        if names and limit.ident not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="weft-same-flows-") as folder:
            times = measured(limit, all_matrices[limit.ident.partition("-")[0]], seeds, Path(folder))
        yield line(limit, times)


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, metavar="HTSIM")
    parser.add_argument("names", nargs="*", metavar="ROW", help="such as U1")
    parser.add_argument("--seeds", nargs=2, type=int, default=SEEDS, metavar=("FEW", "LARGE"))
    options = parser.parse_args(arguments)
    for name in LISTS.values():
        if not (options.checkout / DATACENTER / name).is_file():
            parser.error(f"{options.checkout / DATACENTER} has no {name}: it is not a checkout of uet-htsim")
    few, large = options.seeds
    for text in rows(options.checkout, options.names, (few, large)):
        print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
