"""The directory of an export: a directory for each switch, the table of interfaces, kernel settings, a README."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from .. import _weft
from ..emulation.plan import Plan
from ..errors import OutputError
from ..scenario import Point, Scenario
from .configuration import DAEMONS, SYSCTL, frr_conf
from .errors import FrrError
from .interfaces import COLUMNS, interfaces
from .readme import readme
from .routers import routers

_TABLE, _README, _SYSCTL = "interfaces.csv", "README.md", "sysctl.conf"
_OF_SWITCH = ("frr.conf", "daemons")
_OTHER_KEYS = ("traffic", "transport", "run", "measure")
"""Sections of a scenario on which the configurations do not depend."""


def export(scenario: Scenario, run: str | None, out: Path) -> int:
    """Write the configurations of all switches of a scenario.

    Args:
        scenario: The scenario.
        run: The id of one of its runs; may be None if fabric and scheme are the same in all runs.
        out: The directory to write; an earlier export is replaced.

    Returns:
        The number of switches.

    Raises:
        ScenarioError: The scenario is not valid.
        FrrError: FRR cannot carry it out, or `run` is missing or unknown.
        OutputError: `out` holds other files, or cannot be written.
    """
    plan = Plan.from_json(_weft.plan(*scenario.source, _chosen(scenario, run).id))
    _check_replaceable(out)
    origin = f"{Path(scenario.name).name}, by `weft export --format frr`"
    texts = _texts(plan, origin)
    _write(out, texts)
    return len(plan.switches)


def _chosen(scenario: Scenario, run: str | None) -> Point:
    points = scenario.points()
    if run is not None:
        chosen = [point for point in points if point.id == run]
        if not chosen:
            raise FrrError(f"the scenario has no run `{run}`", f"--run {points[0].id}")
        return chosen[0]
    variants = {str({k: v for k, v in p.overrides.items() if k.split(".")[0] not in _OTHER_KEYS}) for p in points}
    if len(variants) > 1:
        raise FrrError(
            f"fabric or scheme differ between the {len(points)} runs of this scenario",
            f"name one: --run {points[0].id}",
        )
    return points[0]


def _texts(plan: Plan, origin: str) -> dict[str, str]:
    """The files by their path in the directory."""
    found = routers(plan)
    texts = {_README: readme(plan, found, origin), _TABLE: interfaces(plan), _SYSCTL: SYSCTL}
    for router in found:
        contents = (frr_conf(router, f"{router.name} of {origin}"), DAEMONS)
        texts |= {f"{router.name}/{file}": text for file, text in zip(_OF_SWITCH, contents, strict=True)}
    return texts


def _check_replaceable(out: Path) -> None:
    """Check that `out` does not exist, is empty, or has nothing but an earlier export."""
    if not out.exists() and not out.is_symlink():
        return
    if not out.is_dir():
        raise OutputError(f"{out} is a file: give a directory to write the configurations to")
    there = sorted(out.iterdir())
    if not there:
        return
    foreign = [path for path in there if not _is_ours(path)]
    table = out / _TABLE
    if not foreign and table.is_file() and table.read_bytes().startswith(f"{','.join(COLUMNS)}\n".encode()):
        return
    which = foreign[0].name if foreign else there[0].name
    raise OutputError(f"{out} exists and holds other files (`{which}`): give another directory with -o")


def _is_ours(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        return {inner.name for inner in path.iterdir()} == set(_OF_SWITCH)
    return path.name in (_TABLE, _README, _SYSCTL)


def _write(out: Path, texts: Mapping[str, str]) -> None:
    """Write the files to a new directory, which then takes the place of `out`."""
    out = out.resolve()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
            new = Path(scratch) / "new"
            for name, text in texts.items():
                file = new / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            old = Path(scratch) / "old"
            if out.exists():
                out.rename(old)
            try:
                new.rename(out)
            except OSError:
                if old.exists():
                    old.rename(out)
                raise
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror or error}") from error
