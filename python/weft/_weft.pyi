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

def plan(text: str, name: str, base_dir: str, sets: list[str], point_id: str) -> str:
    """The run `point_id` (an ``id`` of `check`) spelt out, for who carries it out elsewhere.

    Returns:
        JSON with

        * ``id``, ``label``, ``name``, ``seed``, ``overrides``, ``warnings``;
        * ``hosts``: ``[{"name", "mac", "address", "prefix"}]``, numbered from 10.0.0.1, the MAC as in a simulation;
        * ``switches``: ``[{"name", "id", "tier", "pod", "ports"}]``, ``id`` 16 hexadecimal digits, with which a Linux
          switch hashes flows as the simulated one does, ``ports`` how many it has;
        * ``links``: one entry a cable, ``{"a", "b", "up"}``; each end is ``{"node", "port", "rate_bps", "delay_ps",
          "queue_packets", "queue_bytes", "queue", "overhead"}`` with the properties of the direction that leaves
          it. Ports are numbered from 0 at each node; of ``queue_packets`` and ``queue_bytes`` one is null; ``queue``
          is the queue as a scenario has it, with ECN threshold and classes where it has them;
        * ``flows``: by start, as `weft-loadgen` takes them: ``[{"flow", "src", "dst", "sport", "dport", "bytes",
          "dscp", "class", "start_ps"}]``;
        * ``scheme``: ``{"name", "params"}``, defaults filled in: counts are numbers, times and sizes text;
        * ``transport``: ``{"profile", "congestion", "parameters"}``;
        * ``run``: ``{"duration_ps", "limit_ps", "seed"}``;
        * ``measure``: ``{"interval_ps", "window_ps", "mouse_bytes", "elephant_bytes"}``;
        * ``events``: ``[{"at_ps", "change", "target", "up", "links", "routes"}]``, ``links`` the places in ``links`` of
          the cables that are ``up`` from then on, or not, ``routes`` the next hops from then on;
        * ``routes``: the next hops at the start; these and those of events as `routes` has them for `ecmp` and
          `spray`, else null.

    Raises:
        ScenarioError: The scenario is not valid, or has no such run.
    """

def routes(text: str, name: str, base_dir: str, sets: list[str], point_id: str, down: list[int]) -> str:
    """The next hops on the shortest paths of a run's fabric while the cables `down` are down and all others up.

    Cables are places in the plan's ``links``; those with ``"up": false`` count only if `down` has them.

    Returns:
        JSON ``{switch: {host: [port, ...]}}``, ports in order; a host that a switch cannot reach is left out.

    Raises:
        ScenarioError: The scenario is not valid, or has no such run or cable.
    """

def open_emulated(text: str, name: str, base_dir: str, sets: list[str], out_dir: str) -> str:
    """Make `out_dir` the result directory of the emulated scenario, or find that it is that already.

    Returns:
        JSON list of the ids of the runs that have results.

    Raises:
        ScenarioError: The scenario is not valid, or `out_dir` holds something else or is being written to.
        OSError: `out_dir` cannot be written.
    """

def write_emulated(
    text: str, name: str, base_dir: str, sets: list[str], point_id: str, out_dir: str, records: str, observed: str
) -> None:
    """Write the result of the emulated run `point_id` into `out_dir`, as a simulation leaves it.

    Args:
        text: The scenario, with `name`, `base_dir` and `sets` as for `check`.
        name: What messages call it.
        base_dir: Where the files it names are looked for.
        sets: Changes as ``key=value``.
        point_id: The run.
        out_dir: The result directory, made where there is none.
        records: The file that `weft-loadgen` wrote; several of them one after the other where several machines sent.
        observed: A JSON file of what was seen of the network, every part optional: ``end_ps``; ``links`` (``{"from",
            "to", "bytes", "packets", "drops", "marks", "max_queue_bytes"}`` and the floods of `summary.json`, one entry
            a direction); ``series`` (``{"time_ps", "metric", "entity", "value"}`` as in `series.parquet`); ``switches``
            (by name, with ``dropped`` by reason); ``flows`` (``{"flow", "resolution_ps", "exploration_ps", "moves",
            "path"}``, ``path`` a list of switches). All else goes to ``emulated`` in `summary.json` as it is.

    Raises:
        ScenarioError: The scenario is not valid, has no such run, or `out_dir` is not its result directory.
        ValueError: A file is not what it should be; the message has the file and the place.
        OSError: A file cannot be read or written, or the run's result is there already.
    """

def fabric(text: str, name: str, base_dir: str, sets: list[str], measured: bool) -> str:
    """The fabric of a scenario as JSON: name, nodes, links; if `measured` also counts, path diversity and bisection.

    Raises:
        ScenarioError: The scenario is not valid.
    """

def fabric_file(path: str, measured: bool) -> str:
    """The same for a fabric file (Weft TOML, GraphML or node-link JSON).

    Raises:
        ScenarioError: The file cannot be read or is not valid.
    """

def path_set(nodes: int, edges: list[tuple[int, int]], start: int, end: int, order: str, count: int) -> str:
    """The first `count` simple paths from a node to another, in the order ``paper`` or ``disjoint``.

    Args:
        nodes: How many nodes; they are 0, 1, and so on.
        edges: The ends of each edge; an edge may have parallels.
        start: Where paths begin.
        end: Where they end.
        order: Which come first; `docs/path-sets.md` defines both orders.
        count: How many; fewer where there are no more.

    Returns:
        JSON ``[[nodes, edges], ...]``, both lists of numbers.

    Raises:
        ValueError: There is no such order, or no such node.
    """

def nearest(name: str, candidates: list[str]) -> str | None:
    """The candidate that may have been meant by a wrong name; None where none is near."""

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
