"""The compiled engine: scenario reading, simulation and fabric analysis, as JSON in and out.

Everything in `weft` that needs the engine goes through these functions; the dictionaries they return as JSON are
described in `docs/results.md` and, for scenarios, in the JSON Schema that `schema()` returns.
"""

from collections.abc import Callable

class ScenarioError(ValueError):
    """A scenario, fabric file or `--set` that cannot be used; `str()` is the rendered message with its line."""

def version() -> str:
    """The version of the engine, e.g. ``0.1.0``."""

def check(text: str, name: str, base_dir: str, sets: list[str]) -> str:
    """Read a scenario and expand its sweep.

    Returns:
        JSON ``{"name", "description", "baseline", "points": [{"id", "label", "overrides", "seed"}], "warnings"}``.

    Raises:
        ScenarioError: The scenario is not valid.
    """

def run(
    text: str,
    name: str,
    base_dir: str,
    sets: list[str],
    out_dir: str,
    jobs: int,
    seeds: list[int] | None,
    progress: Callable[[str], None],
) -> str:
    """Run every point that `out_dir` does not hold yet.

    `progress` is called with one JSON event a few times a second; a `KeyboardInterrupt` it raises stops all runs
    and keeps the finished ones.

    Returns:
        JSON ``{"done", "skipped", "failed": [{"run_id", "label", "error"}]}``.
    """

def explore(
    text: str,
    name: str,
    base_dir: str,
    sets: list[str],
    points: list[str],
    flow: int | None,
    ends: tuple[str, str, int | None, int | None] | None,
    progress: Callable[[str], None],
) -> str:
    """Follow one flow, by number or the first between two hosts, of the first of `points` whose scheme explores.

    `progress` is called with JSON ``{"scene", "fraction", "packet_hops"}`` a few times a second and may raise.

    Returns:
        JSON ``{"name", "label", "seed", "scheme", "flow", "flows", "lock_ps", "fabric", "scenes", "no_recovery"}``;
        see `weft.exploring.trace`.

    Raises:
        ScenarioError: The scenario is not valid, its scheme does not explore, or there is no such flow.
    """

def fabric(text: str, name: str, base_dir: str, sets: list[str]) -> str:
    """The fabric of a scenario: nodes, links, counts by tier, path diversity, bisection, as JSON."""

def fabric_file(path: str) -> str:
    """The same for a fabric file (Weft TOML, GraphML or node-link JSON)."""

def schemes() -> str:
    """JSON list of the switching schemes with their parameters."""

def profiles() -> str:
    """JSON list of the transport profiles with every parameter."""

def distributions() -> str:
    """JSON list of the built-in flow size distributions."""

def schema() -> str:
    """The JSON Schema of a scenario."""

def bench(case: str, seconds: float) -> str:
    """Run one benchmark case for about `seconds` and return its measurements as JSON."""

def bench_cases() -> list[str]:
    """The names of the benchmark cases."""

def bench_export(case: str, seconds: float, directory: str) -> float:
    """Write the fabric and flows of a benchmark case for other simulators to run; returns its simulated seconds."""
