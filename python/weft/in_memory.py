"""`weft.run`: results without a directory of the user's."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl

from .errors import OutputError, ScenarioError
from .files import write_text
from .graph_file import NetworkxGraph, as_text, given_by_all
from .labels import plural
from .other_fabric import on_file
from .results import Results
from .run_bar import bar
from .scenario import Scenario, refuse_file
from .topology import Fabric
from .topology import fabric as read_fabric

GRAPH = "graph.json"
"""The file of a graph."""
Given = Scenario | str | Path | Mapping[str, Any]
"""A scenario as `run` takes it."""
Other = Fabric | NetworkxGraph | str | Path
"""A fabric as `run` takes it."""


class _Folder:
    """A temporary directory that is removed when nothing refers to this object, at the latest at exit."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="weft-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class InMemory(Results):
    """Results of `run`, which exist as long as something refers to them."""

    in_memory = True

    def __init__(self, folder: _Folder) -> None:
        super().__init__(folder.path / "results")
        self._folder = folder

    def __repr__(self) -> str:
        return f"InMemory({self.name}, {len(self.finished)} of {plural(len(self.runs), 'run')})"

    @property
    def where(self) -> str:
        """The results, for messages."""
        return f"the results of {self.name}"

    def place(self, name: str) -> Path:
        """Raises `OutputError`: there is no directory of the user's."""
        raise OutputError(f"{self.where} have no directory for `{name}`: give the path to write to")

    def scan(self, file: str) -> pl.LazyFrame:
        """The rows of a file of every finished run, read at once: the frame may outlive these results."""
        return super().scan(file).collect().lazy()

    def save(self, out: str | Path) -> Results:
        """Copy the results into a directory, where `weft report` and the other commands read them.

        Args:
            out: A directory that does not exist yet, or is empty.

        Raises:
            OutputError: There is something at `out`, or it cannot be written.
        """
        out = Path(out)
        refuse_file(out)
        try:
            if out.exists() and any(out.iterdir()):
                raise OutputError(f"{out} is not empty: give a new directory")
            shutil.copytree(self.path, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".lock", "aggregates"))
        except OSError as error:
            raise OutputError(f"{out}: {error.strerror or error}") from error
        return Results(out)


def run(
    scenario: Given,
    *,
    fabric: Other | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    seeds: int | Sequence[int] | None = None,
    progress: bool | Callable[[dict[str, Any]], None] = True,
) -> InMemory:
    """Run all points of a scenario and return the results, without a directory.

    Files of the results are temporary, and removed when nothing refers to the results any more. For runs that take
    hours use `Scenario.run`, which keeps finished runs and resumes.

    Args:
        scenario: A scenario, TOML text, the content of a TOML file as a dictionary, or the path of a file.
        fabric: Another fabric than the scenario's: a graph of NetworkX, the path of a fabric file, or what
            `weft.fabric` read from one of them. The scenario's other keys of ``[fabric]`` apply to it.
        jobs: Number of parallel runs; default one per core.
        threads: The maximum number of threads within each run; see `Scenario.run`.
        seeds: Seeds to use instead of the scenario's: a list, or the number N for 1 to N.
        progress: Whether to show a bar, in a notebook or terminal, after two seconds; or a function that is called a
            few times a second with an event (see `weft.progress`).

    Raises:
        ScenarioError: The scenario or the fabric is not valid.
        OutputError: A run failed.
        KeyboardInterrupt: The run was interrupted; nothing is left of it.
    """
    given = as_scenario(scenario)
    folder = _Folder()
    try:
        if fabric is not None:
            given = _on(given, fabric, folder.path)
        for text in dict.fromkeys(given.check()[1]):
            warnings.warn(text.replace(f"`{folder.path / GRAPH}`", "the graph"), stacklevel=2)
        shown = bar(_title(given)) if progress is True else nullcontext(progress or None)
        if isinstance(seeds, int) and seeds < 1:
            raise ScenarioError(f"`seeds` is {seeds}: give a list, or the number N for the seeds 1 to N")
        numbers = range(1, seeds + 1) if isinstance(seeds, int) else seeds
        with shown as feed:
            given.run(folder.path / "results", jobs=jobs, threads=threads, seeds=numbers, progress=feed)
        return InMemory(folder)
    except BaseException:
        folder.remove()
        raise


def as_scenario(given: Given) -> Scenario:
    """The scenario that a user means by a scenario, TOML text, a dictionary or the path of a file.

    Raises:
        ScenarioError: The file cannot be read, or the dictionary is not a scenario's.
    """
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Mapping):
        return Scenario.from_dict(given)
    if isinstance(given, str) and ("\n" in given or ("=" in given and not Path(given).is_file())):
        return Scenario.from_text(given)
    if isinstance(given, (str, Path)):
        return Scenario.from_file(given)
    raise ScenarioError(
        f"a scenario is a Scenario, TOML text, a dictionary or the path of a file, not a {type(given).__name__}"
    )


def _title(scenario: Scenario) -> str:
    """The name of a scenario that is valid."""
    return str(tomllib.loads(scenario.text).get("name") or Path(scenario.name).stem)


def _on(scenario: Scenario, fabric: Other, folder: Path) -> Scenario:
    """The scenario on another fabric; the file of a graph is written into `folder`."""
    source = fabric.origin if isinstance(fabric, Fabric) else fabric
    if source is None:
        raise ScenarioError(
            'this fabric is a scenario\'s: write it with `weft.write_fabric(scenario_file, "fabric.toml")` and give '
            "the path of the new file"
        )
    if not isinstance(source, NetworkxGraph):
        return on_file(scenario, Path(source).absolute())
    read_fabric(source, measured=False)
    write_text(folder / GRAPH, as_text(source))
    return on_file(scenario, folder / GRAPH, given=given_by_all(source))
