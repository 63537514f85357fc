"""A scenario: its text, changes to it, and the interface to the engine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from . import _weft, toml_text
from .errors import OutputError, ScenarioError
from .labels import plural
from .markup import escape
from .user_files import read_text

if TYPE_CHECKING:
    from .results import Results
    from .topology import Fabric

MOST_SEEDS = 10_000
"""The most seeds that the engine accepts."""
LARGEST_SEED = 2**63 - 1
"""The largest seed."""
MOST_THREADS = 65_535
"""The most parallel runs, and threads within a run."""
_MADE = "`weft new mine.toml` writes a scenario, `weft scenarios` copies those that come with Weft"


@dataclass(frozen=True)
class Point:
    """One run that a scenario expands to."""

    id: str
    label: str
    overrides: dict[str, Any]
    seed: int


@dataclass(frozen=True)
class Outcome:
    """The result of `Scenario.execute`: numbers of runs and the failures."""

    done: int
    skipped: int
    failed: list[dict[str, Any]]
    repeated: int = 0
    """Finished runs that already had results and were simulated again for their captures."""
    captures: list[dict[str, Any]] = field(default_factory=list)
    """The captures made: ``path``, ``frames``; ``left_out`` and ``full_at`` where the limit was reached."""
    captures_kept: int = 0
    """Captures that existed already."""


@dataclass(frozen=True)
class Capture:
    """The frames that `Scenario.execute` captures in each run.

    Attributes:
        targets: Links (``l0->s0`` in one direction, ``l0-s0`` in both) and flows (``flow:17``).
        directory: Where each run has a directory; default: ``captures`` in the result directory.
        limit: The size at which a file ends, such as ``"100 MB"``, the default.
    """

    targets: Sequence[str] = ()
    directory: Path | None = None
    limit: str | None = None


class Workers(Protocol):
    """Carries out runs elsewhere, such as `weft.cluster.Cluster`."""

    def execute(
        self,
        scenario: Scenario,
        out: str | Path,
        *,
        jobs: int | None = None,
        seeds: Sequence[int] | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> Outcome:
        """Like `Scenario.execute`."""


@dataclass(frozen=True)
class Scenario:
    """A scenario file with changes; immutable: a change returns a new scenario.

    Attributes:
        text: The TOML text.
        name: Its name in messages; usually the file name.
        base_dir: The directory that relative file names (fabrics, CDFs, traces) refer to.
        sets: Changes as ``key=value``, applied in order.
    """

    text: str = field(repr=False)
    name: str = "scenario.toml"
    base_dir: Path = field(default_factory=Path)
    sets: tuple[str, ...] = ()

    @classmethod
    def from_file(cls, path: str | Path) -> Scenario:
        """Read a scenario file.

        Raises:
            ScenarioError: The file cannot be read. Its content is checked on first use.
        """
        path = Path(path)
        return cls(read_text(path, _MADE), str(path), path.parent)

    @classmethod
    def from_text(cls, text: str, name: str = "scenario.toml", base_dir: str | Path = ".") -> Scenario:
        """A scenario from TOML text."""
        return cls(text, name, Path(base_dir))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "scenario.toml", base_dir: str | Path = ".") -> Scenario:
        """A scenario from the content of a TOML file as a dictionary.

        Raises:
            ScenarioError: A value is None, or of a type that TOML does not have.
        """
        from .topology import Fabric

        if isinstance(content.get("fabric"), Fabric):
            raise ScenarioError(
                "`fabric` is a Fabric, not the keys of [fabric]: leave it out and write weft.run(..., fabric=f)"
            )
        return cls(toml_text.document(content), name, Path(base_dir))

    def _repr_html_(self) -> str:
        """The text with its changes, for a notebook."""
        changes = "".join(f"\n# set: {change}" for change in self.sets)
        text = f'<pre style="font-size:smaller">{escape(self.text.strip() + changes)}</pre>'
        return f"<div>{escape(self.name)}</div>{text}"

    def set(self, key: str, value: Any) -> Scenario:
        """The scenario with `key` (dotted, e.g. ``traffic.load``) set to `value`; a list is a TOML array."""
        return self.with_sets([f"{key}={value if isinstance(value, str) else toml_text.value(value, key)}"])

    def with_sets(self, sets: Sequence[str]) -> Scenario:
        """The scenario with ``key=value`` changes applied after the existing ones."""
        return replace(self, sets=(*self.sets, *sets))

    def check(self) -> tuple[list[Point], list[str]]:
        """The runs it expands to, and warnings.

        Raises:
            ScenarioError: The scenario is not valid; the message gives line, column and the expected values.
        """
        answer = self._checked()
        points = [Point(p["id"], p["label"], p["overrides"], p["seed"]) for p in answer["points"]]
        return points, list(answer.get("warnings", []))

    @property
    def source(self) -> tuple[str, str, str, list[str]]:
        """Text, name, directory and changes, as the engine takes them."""
        return self.text, self.name, str(self.base_dir), list(self.sets)

    @property
    def stem(self) -> str:
        """The name of its file without the ending."""
        return Path(self.name).stem

    @property
    def baseline(self) -> str | None:
        """Its baseline scheme, if any."""
        value = self._checked()["baseline"]
        return None if value is None else str(value)

    def content(self) -> dict[str, Any]:
        """All keys with their values, the changes applied.

        Raises:
            ScenarioError: The scenario is not valid.
        """
        found: dict[str, Any] = json.loads(self._checked()["content"])
        return found

    def _checked(self) -> dict[str, Any]:
        """The engine's check of the scenario."""
        answer: dict[str, Any] = json.loads(_weft.check(*self.source))
        return answer

    def points(self) -> list[Point]:
        """The runs it expands to: every combination of the sweep with every seed."""
        return self.check()[0]

    def fabric(self) -> Fabric:
        """Its fabric."""
        from .topology import Fabric

        return Fabric.from_json(json.loads(_weft.fabric(*self.source, True)))

    def run(
        self,
        out: str | Path,
        *,
        jobs: int | None = None,
        threads: int | None = None,
        seeds: Sequence[int] | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        cluster: Workers | None = None,
    ) -> Results:
        """Run all points that `out` does not contain yet and return the results.

        Args:
            out: The result directory; created if missing, resumed if it contains this scenario's results.
            jobs: Number of parallel runs; default one per core.
            threads: The maximum number of threads within each run, fewer where other programs keep the cores busy; by
                default those that parallel runs leave, on large fabrics. The results do not depend on `jobs` and
                `threads`.
            seeds: Seeds to use instead of the scenario's.
            progress: Called a few times a second with an event (see `weft.progress`); may raise KeyboardInterrupt
                to stop; finished runs are kept.
            cluster: Workers that carry out the runs instead of this process; its threads count instead of `threads`.

        Raises:
            ScenarioError: The scenario is not valid; nothing is written.
            OutputError: `out` contains something else, cannot be written, or a run failed.
        """
        outcome = self.execute(out, jobs=jobs, threads=threads, seeds=seeds, progress=progress, cluster=cluster)
        if outcome.failed:
            first, failed = outcome.failed[0], len(outcome.failed)
            raise OutputError(
                f"{failed} of {plural(outcome.done + outcome.skipped + failed, 'run')} failed; "
                f"the first: {first.get('label', first.get('run_id'))}: {first.get('error')}",
                begun=True,
                disk_full=any(entry["disk_full"] for entry in outcome.failed),
            )
        from .results import Results

        return Results(out)

    def execute(
        self,
        out: str | Path,
        *,
        jobs: int | None = None,
        threads: int | None = None,
        seeds: Sequence[int] | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
        cluster: Workers | None = None,
        capture: Capture | None = None,
    ) -> Outcome:
        """Like `run`, but failed runs are returned in the outcome, and frames are captured (not on a cluster)."""
        if cluster is not None:
            if capture is not None and capture.targets:
                raise OutputError("frames cannot be captured on a cluster: capture them in runs of this machine")
            return cluster.execute(self, out, jobs=jobs, seeds=seeds, progress=progress)
        refuse_file(Path(out))
        refuse_numbers("jobs", 1, MOST_THREADS, [] if jobs is None else [jobs])
        refuse_numbers("threads", 1, MOST_THREADS, [] if threads is None else [threads])
        refuse_numbers("seeds", 0, LARGEST_SEED, seeds or ())
        wanted = capture or Capture()

        def forward(event: str) -> None:
            if progress is not None:
                progress(json.loads(event))

        try:
            runs = jobs if jobs is not None else os.cpu_count() or 1
            chosen = None if seeds is None else list(seeds)
            folder = None if wanted.directory is None else str(wanted.directory)
            captures = (list(wanted.targets), folder, wanted.limit)
            answer = _weft.run(*self.source, str(out), runs, threads, chosen, forward, *captures)
        except (OSError, ScenarioError) as error:
            # An error in the scenario comes first: with it, the scenario also differs from that of the results.
            self.check()
            if isinstance(error, ScenarioError):
                raise
            raise OutputError(str(error)) from error
        return Outcome(**json.loads(answer))


def refuse_numbers(name: str, least: int, most: int, numbers: Sequence[int]) -> None:
    """Reject numbers of an argument that are out of range.

    Raises:
        ScenarioError: The first such number, with the range.
    """
    for number in numbers:
        if number < least:
            raise ScenarioError(f"`{name}` is {number}: give whole numbers from {least} on")
        if number > most:
            raise ScenarioError(f"`{name}` is {number}: give whole numbers up to {most}")


def refuse_file(out: Path) -> None:
    """Reject an output directory that is a file; the engine checks whether a directory can be used.

    Raises:
        OutputError: `out` is a file.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file: give a directory to write the results to")
