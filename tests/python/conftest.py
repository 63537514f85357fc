"""Sample results, made once, and the command line as a test sees it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from typer.testing import CliRunner, Result

import sample
import terminal  # noqa: F401
from chromium import CHROMIUM, FLAGS, opened
from report_page import go, resize
from skips import pytest_make_collect_report, pytest_runtest_makereport
from tiny import TINY
from weft import report
from weft.cli import app
from weft.results import Results
from weft.scenario import Scenario

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Has a directory made by the first of the processes that share this run of pytest; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def directory(name: str, make: Callable[[Path], object]) -> Path:
        whole, part = shared / name, shared / f"{name}.part"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                make(part)
                part.rename(whole)
        return whole

    return directory


@pytest.fixture(scope="session")
def sample_dir(made_once) -> Path:
    """Three schemes at two loads with three seeds; not to be changed."""
    return made_once("sample", sample.write_results)


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
def engine_results(made_once) -> Results:
    """The results of `TINY`, simulated; not to be changed."""
    return Results(made_once("engine", lambda directory: Scenario.from_text(TINY).run(directory, jobs=1)))


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


# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("weft", deadline=None)
hypothesis.settings.load_profile("weft")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread tests as `spread.py` says."""
    from spread import Spreading

    config.option.loadscopereorder = False
    return Spreading(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest group begins first where tests are spread."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        from spread import group

        items.sort(key=lambda item: group(item.nodeid) != "measuring")


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


@pytest.fixture(scope="module")
def page_of_all(browser, tmp_path_factory: pytest.TempPathFactory):
    """The sample's report, with an event in each run, opened once."""
    folder = tmp_path_factory.mktemp("page")
    directory = sample.write_results(folder / "results")
    sample.add_event(directory, sample.failure(300 * 10**9, "e0", "a1"))
    page = opened(browser, report(directory, folder / "report.html"), accept_downloads=True)
    yield page
    page.close()


@pytest.fixture
def page_in_use(page_of_all):
    """The same page, with the choices of the test before: for tests whose first step is to `go` to theirs."""
    yield page_of_all
    resize(page_of_all, 1280)


@pytest.fixture
def page(page_in_use):
    """The same page, with all choices as at first."""
    go(page_in_use, "")
    return page_in_use
