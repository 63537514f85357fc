"""Sample results, made once, and the command line as a test sees it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sample
from weft.cli import app
from weft.results import Results


@pytest.fixture(scope="session")
def sample_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three schemes at two loads with three seeds; not to be changed."""
    return sample.write_results(tmp_path_factory.mktemp("sample") / "results")


@pytest.fixture(scope="session")
def results(sample_dir: Path) -> Results:
    return Results(sample_dir)


@pytest.fixture
def own_dir(sample_dir: Path, tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return Path(shutil.copytree(sample_dir, tmp_path / "results"))


@pytest.fixture
def weft(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command: takes its arguments, returns output and exit code."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="weft")

    return run
