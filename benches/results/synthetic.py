"""A large result directory, in the files that `weft run` writes, with invented flows; made by the tests' own sample."""

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMES = ("single_path", "ecmp", "spray", "drill", "conga", "letflow", "hula", "wcmp")


def make(directory: Path, loads: int, seeds: int, flows: int, samples: int, tell: Callable[[str], None]) -> int:
    """Make `directory`: all schemes at so many loads with `seeds` seeds; return the number of runs."""
    sample = _sample()
    sweep = {"scheme.name": list(SCHEMES), "traffic.load": [round(0.04 + 0.035 * i, 3) for i in range(loads)]}
    runs = len(SCHEMES) * loads * seeds
    # The list of all runs; they are filled in by several processes.
    sample.write_results(directory, sweep, seeds, missing=runs, baseline="ecmp")
    index = json.loads((directory / "sweep.json").read_text())
    work = [(directory / entry["path"], entry["overrides"], entry["seed"], flows, samples) for entry in index["runs"]]
    os.environ["POLARS_MAX_THREADS"] = "1"
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        for number, _ in enumerate(pool.map(_write, work, chunksize=10), 1):
            if number % 100 == 0:
                tell(f"{number} of {runs} runs made")
    return runs


def _write(run: tuple[Path, dict[str, Any], int, int, int]) -> None:
    path, overrides, seed, flows, samples = run
    _sample().write_run(path, overrides, seed, flows=flows, samples=samples)


def _sample() -> Any:
    tests = str(ROOT / "tests/python")
    if tests not in sys.path:
        sys.path.append(tests)
    return import_module("sample")
