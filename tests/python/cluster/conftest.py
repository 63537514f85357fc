"""A cluster for the tests, and scenarios with runs of a known length."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tiny import TINY

pytest.importorskip("distributed", reason="the Python package distributed is not installed")

from dask_processes import Dask
from weft.scenario import Scenario


@pytest.fixture(scope="session")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """A scheduler that tests leave alive."""
    dask = Dask(tmp_path_factory.mktemp("dask"))
    yield dask
    dask.end()


@pytest.fixture
def dask(scheduler: Dask, tmp_path: Path) -> Iterator[Dask]:
    """The scheduler, without workers of other tests."""
    scheduler.directory = tmp_path
    yield scheduler
    scheduler.leave()


@pytest.fixture
def own_dask(tmp_path: Path) -> Iterator[Dask]:
    """A scheduler that the test may kill."""
    dask = Dask(tmp_path)
    yield dask
    dask.end()


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[..., Path]:
    """Writes a scenario file: `TINY` with other values."""

    def write(**values: object) -> Path:
        text = TINY
        for key, value in values.items():
            before = next(line for line in TINY.splitlines() if line.startswith(f"{key} = "))
            text = text.replace(before, f"{key} = {value}")
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def local(made_once) -> Callable[[Path], Path]:
    """Runs a scenario in this process, the same one once; the result directory, not to be changed."""

    def run(scenario: Path) -> Path:
        name = f"local-{hashlib.sha256(scenario.read_bytes()).hexdigest()}"
        return made_once(name, lambda directory: Scenario.from_file(scenario).run(directory, jobs=2))

    return run
