"""Prints the table "All-to-alls" of docs/transport.md: the same all-to-alls in uet-htsim and Weft.

`python scripts/uet_all_to_all.py HTSIM [HOSTS...]`: HTSIM is a checkout of uet-htsim whose `htsim_uec` is built, or the
directory of its programs; HOSTS are numbers of hosts of the table's rows (default: all). 16 seeds with 16 hosts, 3 with
128: three minutes of CPU time. `--seeds N` changes that.
"""

import argparse
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from weft import quantity
from weft.against import cases, matrix, ours, program, theirs
from weft.against.cases import Case
from weft.against.errors import PeerError
from weft.against.networks import SACK_BYTES

BYTES = 64_000
"""Bytes from each host to each other one."""
PORTS = {16: 4, 128: 8}
"""Ports of the switches of a fat-tree with so many hosts."""
PROGRAM = "htsim_uec"
EACH = 4000
"""After as many bytes of payload, less than a full packet, a receiver answers each packet."""
SEEDS = {16: 16, 128: 3}


@dataclass(frozen=True)
class Row:
    """A row of the table: when receivers answer, and whether Weft's senders request answers."""

    hosts: int
    ack_bytes: int
    requests: bool = False

    @property
    def case(self) -> Case:
        """The case that both simulators run."""
        case = cases.CASES["uec-all-to-all-128"]
        hosts = case.hosts.replace(f'ack_bytes = "{SACK_BYTES} B"', f'ack_bytes = "{self.ack_bytes} B"')
        if self.requests:
            hosts = hosts.replace("answer_requests = false\n", "")
        sack = ("-sack_threshold", str(EACH)) if self.ack_bytes == EACH else ()
        return replace(
            case,
            name=f"uec-all-to-all-{self.hosts}",
            matrix=partial(matrix.all_to_all, self.hosts, BYTES),
            arguments=("-sender_cc_only", "-load_balancing_algo", "mixed", "-paths", "64", *sack),
            k=PORTS[self.hosts],
            hosts=re.sub(r"entropies = .*\nentropy_choice = .*\n", "", hosts),
        )

    @property
    def title(self) -> str:
        """The first cells of its line."""
        answers = "each packet" if self.ack_bytes == EACH else "16 kB"
        return f"{self.hosts} | {answers} | {'yes' if self.requests else 'no'}"


ROWS = (Row(16, SACK_BYTES), Row(128, EACH), Row(128, SACK_BYTES), Row(128, SACK_BYTES, requests=True))


@dataclass(frozen=True)
class Times:
    """Means over seeds: of the last and of the mean completion in microseconds, and of repeated packets."""

    last: float
    mean: float
    repeated: float


def measured(seeds: int, row: Row, run: Callable[[Case, int, Path], tuple[list[float], float]]) -> Times:
    """The times of a simulator; `run` runs a seed and returns completions and repeated packets."""
    found = []
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory(prefix="weft-all-to-all-") as folder:
            (Path(folder) / cases.MATRIX).write_text(row.case.matrix().text, encoding="utf-8")
            times, repeated = run(row.case, seed, Path(folder))
        if len(times) < row.hosts * (row.hosts - 1):
            raise SystemExit(f"error: {row.case.name}: some flows did not finish")
        found.append(Times(max(times), statistics.fmean(times), repeated))
    return Times(
        statistics.fmean(one.last for one in found),
        statistics.fmean(one.mean for one in found),
        statistics.fmean(one.repeated for one in found),
    )


def weft(case: Case, seed: int, folder: Path) -> tuple[list[float], float]:
    """Completions and repeated packets of a run of Weft."""
    ours.run(case, seed, folder)
    return ours.completions(folder), ours.outcome(folder).repeated


def htsim(path: Path, case: Case, seed: int, folder: Path) -> tuple[list[float], float]:
    """Completions and repeated packets of a run of uet-htsim."""
    theirs.run(case, seed, path, case.matrix(), folder, seconds=None, silent=False)
    return theirs.completions(case, folder), theirs.outcome(case, folder).repeated


def line(row: Row, own: Times, other: Times) -> str:
    """A line of the table."""

    def pair(one: float, two: float) -> str:
        # Without a sign if it rounds to 0.
        difference = quantity.change(round(one / two - 1, 3) + 0.0)
        return f"{two:.1f}, {one:.1f} | {difference}"

    repeated = f"{other.repeated:,.0f}, {own.repeated:,.0f}"
    return f"| {row.title} | {pair(own.mean, other.mean)} | {pair(own.last, other.last)} | {repeated} |"


def lines(path: Path, hosts: list[int], seeds: int | None) -> Iterator[str]:
    """The lines of the table, each when its runs are done. Rows of the same run of uet-htsim share it."""
    yield "| hosts | an answer for | requests | mean: uet-htsim, Weft | | last: uet-htsim, Weft | | repeated packets |"
    yield "|---|---|---|---|---|---|---|---|"
    known: dict[Row, Times] = {}
    for row in ROWS:
        if hosts and row.hosts not in hosts:
            continue
        plain, number = replace(row, requests=False), seeds or SEEDS[row.hosts]
        if plain not in known:
            known[plain] = measured(number, row, partial(htsim, path))
        yield line(row, measured(number, row, weft), known[plain])


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("htsim", type=Path, metavar="HTSIM")
    parser.add_argument("hosts", nargs="*", type=int, metavar="HOSTS", help="16 or 128")
    parser.add_argument("--seeds", type=int, metavar="N")
    options = parser.parse_args(arguments)
    if unknown := set(options.hosts) - set(PORTS):
        parser.error(f"no row has {min(unknown)} hosts: {' or '.join(map(str, PORTS))}")
    if options.seeds is not None and options.seeds < 1:
        parser.error(f"--seeds is {options.seeds}: it must be 1 or more")
    try:
        path = program.opened(options.htsim).program(PROGRAM)
        if path is None:
            parser.error(f"{options.htsim} has no {PROGRAM}: {program.how_to_build(PROGRAM)}")
        for text in lines(path, options.hosts, options.seeds):
            print(text, flush=True)
    except PeerError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
