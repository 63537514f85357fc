"""Sample results, made once, and the command line as a test sees it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sample
from chromium import CHROMIUM, FLAGS
from tiny import TINY
from weft.cli import app
from weft.results import Results
from weft.scenario import Scenario


@pytest.fixture(scope="session")
def sample_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three schemes at two loads with three seeds; not to be changed."""
    return sample.write_results(tmp_path_factory.mktemp("sample") / "results")


@pytest.fixture(scope="session")
def results(sample_dir: Path) -> Results:
    return Results(sample_dir)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A scenario file of one's own."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="session")
def engine_results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The results of `TINY`, simulated; not to be changed."""
    return Scenario.from_text(TINY).run(tmp_path_factory.mktemp("engine") / "results", jobs=1)


@pytest.fixture
def own_dir(sample_dir: Path, tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return Path(shutil.copytree(sample_dir, tmp_path / "results"))


@pytest.fixture
def weft(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command: takes its arguments, returns output and exit code."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.argv", ["weft"])

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="weft")

    return run


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium; tests that need it are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (Debian package `chromium`)")
    playwright = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(FLAGS))
        yield browser
        browser.close()
