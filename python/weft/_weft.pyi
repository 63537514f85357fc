"""The compiled engine: scenario parsing, simulation and fabric analysis, with JSON in and out.

`weft` uses the engine only through these functions; the JSON they return is described in `docs/results.md` and, for
scenarios, in the JSON Schema returned by `schema()`.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

class ScenarioError(ValueError):
    """A scenario, fabric file or `--set` that cannot be used; `str()` is the rendered message with its line."""

class OtherVersionError(ValueError):
    """A plugin that was built with another version of Weft."""

def version() -> str:
    """The version of the engine, e.g. ``0.1.0``."""

def check(text: str, name: str, base_dir: str, sets: list[str]) -> str:
    """Read a scenario and expand its sweep.

    Returns:
        JSON ``{"name", "description", "baseline", "points": [{"id", "label", "overrides", "seed"}], "warnings",
        "content"}``, the content as JSON with changes applied.

    Raises `ScenarioError` if the scenario is not valid.
    """

def estimate(text: str, name: str, base_dir: str, sets: list[str], least_work: float, seconds: float) -> str:
    """Size up to eight points of a sweep and, if these have `least_work` packet-hops and samples, try three of them.

    A trial simulates the first moments of a run, `seconds` of wall-clock time. Plugins have none.

    Returns:
        JSON ``{"runs", "sizes": [{"size": SIZE, "plan_seconds"}], "trials": [{"size": SIZE, "trial": {"packet_hops",
        "seconds", "setup_seconds", "memory_bytes"}}]}`` with SIZE ``{"packet_hops", "samples", "disk_bytes",
        "memory_bytes"}``.

    Raises `ScenarioError` if the scenario is not valid.
    """

def run(
    text: str,
    name: str,
    base_dir: str,
    sets: list[str],
    out_dir: str,
    jobs: int,
    threads: int | None,
    seeds: list[int] | None,
    progress: Callable[[str], None],
    captures: list[str] = [],
    capture_dir: str | None = None,
    capture_limit: str | None = None,
) -> str:
    """Run all points that `out_dir` does not contain yet, and capture the frames of `captures` (links, `flow:N`).

    `progress` is called with a JSON event a few times a second; if it raises `KeyboardInterrupt`, all runs are stopped
    and finished ones are kept.

    Returns:
        JSON ``{"done", "skipped", "failed": [{"run_id", "label", "error", "disk_full"}], "repeated", "captures":
        [{"path", "frames", "left_out", "full_at"}], "captures_kept"}``; see `weft.Scenario.execute`.
    """

def result_files() -> tuple[list[str], list[str]]:
    """The names of the files of every run's result, and of those that only some have."""

class SweepDirectory:
    """The result directory of a sweep whose runs are carried out elsewhere, locked until `close`.

    Every method but `close` raises `ValueError` after it.
    """

    def __init__(self, text: str, name: str, base_dir: str, sets: list[str], out_dir: str) -> None:
        """Create the directory, or open an existing one with results of this scenario.

        Raises:
            ScenarioError: The scenario is not valid, or `out_dir` contains something else or is being written to.
            OSError: `out_dir` cannot be written.
        """

    def missing(self) -> list[str]:
        """The ids of the runs without results."""

    def inputs(self) -> list[tuple[str, str, int]]:
        """The files that the scenario names: name, SHA-256 and size in bytes."""

    def input(self, file: str, offset: int, length: int) -> bytes:
        """A piece of the contents of one of these files, as read when the directory was opened.

        Raises `ValueError` if the scenario does not name this file.
        """

    def begin(self, point_id: str) -> str:
        """Create an empty directory for the result of a run and return its path; `weft run` removes leftover ones.

        Raises `OSError` if it cannot be created.
        """

    def complete(self, point_id: str, temporary: str) -> None:
        """Give a directory that `begin` created the name of the run's result.

        Raises `OSError` if it cannot be renamed.
        """

    def close(self, timings: list[str]) -> None:
        """Add entries (JSON) to ``performance.json`` and unlock the directory.

        Raises `OSError` if the file cannot be written.
        """

class Runs:
    """The runs of a scenario, to be carried out one at a time."""

    def __init__(self, text: str, name: str, sets: list[str]) -> None:
        """Read the scenario. Raises `ScenarioError` if it is not valid."""

    def run(
        self,
        point_id: str,
        files: dict[str, str],
        target: str,
        threads: int,
        progress: Callable[[str], None],
    ) -> str | None:
        """Carry out a run and write its result to the directory `target`, which must not exist.

        Args:
            point_id: The run.
            files: The path here of every file that the scenario names, by the name there.
            target: The directory.
            threads: Threads within the run.
            progress: Called several times a second with JSON ``{"fraction", "flows_done", "flows_total",
                "packet_hops", "sim_time_s"}``, empty before the run starts. It may raise to stop the run.

        Returns:
            JSON: ``{"timing", "one_thread"}``, or ``{"error", "disk_full"}`` if the run failed; no partial result is
            left then. ``timing`` is an entry of ``performance.json``, ``one_thread`` the reason if the run had one
            thread although it was given more, else null.

        Raises `ScenarioError` if there is no such run.
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
    """Trace one flow, by number or the first between two hosts, in the first of `points` whose scheme explores.

    `progress` is called with JSON ``{"scene", "fraction", "packet_hops"}`` a few times a second and may raise.

    Returns:
        JSON ``{"name", "label", "seed", "scheme", "flow", "flows", "lock_ps", "fabric", "scenes", "no_recovery"}``;
        see `weft.exploring.trace`.

    Raises `ScenarioError` if the scenario is not valid, no scheme explores, or the flow does not exist.
    """

def why(
    text: str,
    name: str,
    base_dir: str,
    sets: list[str],
    point_id: str,
    flows: list[int],
    packets: bool,
    on_path: dict[int, int] | None,
    progress: Callable[[str], None],
) -> str:
    """Repeat the run `point_id` (an ``id`` of `check`) and divide the time of these flows among its causes.

    `progress` is called with JSON ``{"sim_time_s", "packet_hops"}`` a few times a second and may raise.

    Returns:
        A JSON list, one entry per flow; see `weft.why`. With `packets`, entries have the flow's packets and window.
        With `on_path`, the starts of flows in parts in picoseconds, only sums are found; those of a flow in parts
        follow its parts around the ring.

    Raises `ScenarioError` if there is no such run or flow, or a flow cannot be explained.
    """

def time_line(
    text: str,
    name: str,
    base_dir: str,
    sets: list[str],
    points: list[str],
    flow: int | None,
    ends: tuple[str, str, int | None, int | None] | None,
    progress: Callable[[str], None],
) -> str:
    """Explain one flow, with its packets, in the first of `points` whose scheme explores, else in the first.

    The flow is given by number, or is the first between two hosts; with neither, it is the first one of at least 1 MB
    after a tenth of the duration, else the largest. `progress` is called with JSON ``{"fraction", "packet_hops"}`` a
    few times a second and may raise.

    Returns:
        JSON ``{"name", "label", "seed", "flow"}``; `flow` is as from `why`.

    Raises `ScenarioError` if the scenario is not valid, there is no such flow, or it cannot be explained.
    """

def plan(text: str, name: str, base_dir: str, sets: list[str], point_id: str) -> str:
    """The plan of the run `point_id` (an ``id`` of `check`), for running it outside the simulator.

    Returns:
        JSON with

        * ``id``, ``label``, ``name``, ``seed``, ``overrides``, ``warnings``;
        * ``hosts``: ``[{"name", "mac", "address", "prefix"}]``, numbered from 10.0.0.1, the MAC as in a simulation;
        * ``switches``: ``[{"name", "id", "tier", "pod", "ports"}]``, ``id`` 16 hexadecimal digits, with which a Linux
          switch hashes flows like the simulated one, ``ports`` their number;
        * ``links``: one entry per link, ``{"a", "b", "up"}``; each end is ``{"node", "port", "rate_bps", "delay_ps",
          "queue_packets", "queue_bytes", "queue", "overhead"}`` with the properties of the direction that leaves
          it. Ports are numbered from 0 at each node; of ``queue_packets`` and ``queue_bytes`` one is null; ``queue``
          is the queue in the format of a scenario, with ECN threshold and classes if any;
        * ``flows``: by start, in the format of `weft-loadgen`: ``[{"flow", "src", "dst", "sport", "dport", "bytes",
          "dscp", "class", "start_ps"}]``; ``flows_waiting``, if any, the number of those that start after others;
        * ``scheme``: ``{"name", "params"}``, defaults filled in: counts are numbers, times and sizes text;
        * ``transport``: ``{"profile", "congestion", "parameters"}``, of another protocol than TCP its name and null;
        * ``run``: ``{"duration_ps", "limit_ps", "seed"}``;
        * ``measure``: ``{"interval_ps", "window_ps", "mouse_bytes", "elephant_bytes"}``;
        * ``events``: ``[{"at_ps", "change", "target", "up", "links"}]``, ``links`` indices in ``links`` of
          links that are ``up`` from then on, or not (null: their rate or losses change);
        * ``reroutes``: ``[{"at_ps", "routes"}]``, the next hops after each reaction to events;
        * ``routes``: the initial next hops; here and in reroutes, in the format of `routes` for `ecmp` and `spray`,
          else null;
        * ``weights``, for `wcmp`: those of the initial next hops in the same order, how often each is in its group.

    Raises `ScenarioError` if the scenario is not valid, or has no such run.
    """

def routes(text: str, name: str, base_dir: str, sets: list[str], point_id: str, down: list[int]) -> str:
    """The next hops on the shortest paths of a run's fabric while the links `down` are down and all others up.

    `down` are indices in the plan's ``links``; links with ``"up": false`` are down only if listed.

    Returns:
        JSON ``{switch: {host: [port, ...]}}``, ports in order; hosts that a switch cannot reach are left out.

    Raises `ScenarioError` if the scenario is not valid, or has no such run or link.
    """

def open_emulated(text: str, name: str, base_dir: str, sets: list[str], out_dir: str) -> str:
    """Create the result directory `out_dir` of the emulated scenario, or check that an existing one belongs to it.

    Returns:
        JSON list of the ids of the runs that have results.

    Raises:
        ScenarioError: The scenario is not valid, or `out_dir` contains something else or is being written to.
        OSError: `out_dir` cannot be written.
    """

def write_emulated(
    text: str, name: str, base_dir: str, sets: list[str], point_id: str, out_dir: str, records: str, observed: str
) -> None:
    """Write the result of the emulated run `point_id` into `out_dir`, in the layout of a simulation.

    Args:
        text: The scenario, with `name`, `base_dir` and `sets` as for `check`.
        name: Its name in messages.
        base_dir: The directory that relative file names refer to.
        sets: Changes as ``key=value``.
        point_id: The run.
        out_dir: The result directory, created if missing.
        records: The file written by `weft-loadgen`; with several machines, their files concatenated.
        observed: A JSON file with the network's measurements, every part optional: ``end_ps``; ``links`` (``{"from",
            "to", "bytes", "packets", "drops", "marks", "max_queue_bytes"}`` and the floods of `summary.json`, one per
            direction); ``series`` (``{"time_ps", "metric", "entity", "value"}`` as in `series.parquet`); ``switches``
            (by name, with ``dropped`` by reason); ``flows`` (``{"flow", "resolution_ps", "exploration_ps", "moves",
            "path"}``, ``path`` a list of switches). Everything else is copied to ``emulated`` in `summary.json`.

    Raises:
        ScenarioError: The scenario is not valid, has no such run, or `out_dir` is not its result directory.
        ValueError: A file is malformed; the message gives the file and the position.
        OSError: A file cannot be read or written, or the run's result already exists.
    """

def fabric(text: str, name: str, base_dir: str, sets: list[str], measured: bool) -> str:
    """The fabric of a scenario as JSON: name, nodes, links, warnings; if `measured`, also counts, paths and bisection.

    Raises `ScenarioError` if the scenario is not valid.
    """

def fabric_file(path: str, measured: bool) -> str:
    """Like `fabric`, for a fabric file (Weft TOML, GraphML or node-link JSON).

    Raises `ScenarioError` if the file cannot be read or is not valid.
    """

def fabric_as(target: str, text: str, name: str, base_dir: str, sets: list[str]) -> str:
    """The fabric of a scenario as the text of a fabric file, in the format of `target`'s extension.

    Raises `ScenarioError` if the scenario is not valid, the extension is unknown, or the format cannot represent a
    name.
    """

def fabric_file_as(target: str, path: str) -> str:
    """Like `fabric_as`, for a fabric file, which need not have hosts.

    Raises:
        ScenarioError: As `fabric_as`.
    """

def network_file(path: str) -> str:
    """Name, nodes, links and warnings of a fabric file that need not have hosts.

    Raises `ScenarioError` if the file cannot be read or is not valid.
    """

def path_set(nodes: int, edges: list[tuple[int, int]], start: int, end: int, order: str, count: int) -> str:
    """The first `count` simple paths between two nodes, in the order ``paper`` or ``disjoint``.

    Args:
        nodes: Number of nodes; they are numbered from 0.
        edges: The ends of each edge; parallel edges are allowed.
        start: Start of the paths.
        end: End of the paths.
        order: The order of the paths, see `docs/path-sets.md`.
        count: Maximum number of paths.

    Returns:
        JSON ``[[nodes, edges], ...]``, both lists of numbers.

    Raises `ValueError` if the order or a node does not exist.
    """

def nearest(name: str, candidates: list[str]) -> str | None:
    """The candidate closest to a misspelt name; None if none is close."""

ARRIVED: float
"""If less than this share of the offered bytes has arrived at the end of arrivals, short runs are too short."""

CAPTURE_LIMIT: str
"""The default size at which a capture ends."""

FRAMING: dict[str, int]
"""Bytes that a link of a scenario adds to an IP packet, by the name of its framing (`overhead`)."""

MTU: int
"""Bytes of the IP packet in a full Ethernet frame."""

OPENFLOW_PORT: int
"""The TCP port of OpenFlow controllers."""

WITHOUT_CONNECTIONS: list[str]
"""The names of the protocols whose lost packets are gone: they are not sent again."""

def growth(
    backlog: tuple[float, float, float, float, float], offered: float, remaining: float, error: float
) -> str | None:
    """How the backlog of several runs of one point grows together; None if it does not, or only by chance.

    Args:
        backlog: Mean bytes in each fifth of the judged time, summed over the runs, as are the others.
        offered: Bytes offered.
        remaining: Bytes that had not arrived at the end.
        error: Standard error of the growth, in bytes: the root of the sum of squares.
    """

def schemes() -> str:
    """JSON list of the descriptors of the switching schemes: parameters, needs, exploration, own frames, Linux mode.

    ``plugin`` is the file of a scheme that was loaded, else null.
    """

def congestion_controls() -> str:
    """JSON list of TCP's congestion controllers; those of plugins (``plugin`` is the file) with their parameters."""

def load_plugin(path: str) -> str:
    """Load the module in a file and return the name of its scheme or congestion controller, which scenarios then have.

    Raises:
        OtherVersionError: It was built with another version.
        ValueError: It cannot be read, is no module, or its scheme's name is taken. Code of the file is
            executed only if it is a module of this version.
    """

def profiles() -> str:
    """JSON list of the transport profiles with all parameters."""

def controller_settings() -> str:
    """JSON list of the settings of `Controller`, except ``fabric``.

    Each has ``name``, ``kind`` (``{"choice": words}``, ``"count"`` or ``"number"``), ``default``, ``range``
    (``{"whole": [least, most]}`` or ``{"real": [{"Included": least}, {"Included": most}]}``), ``unit`` and ``doc``.
    ``limits.flows`` is the key ``flows`` of the object ``limits``.
    """

def distributions() -> str:
    """JSON list of the built-in flow-size distributions."""

def result_tables() -> str:
    """The tables of a result.

    Returns:
        JSON: ``flows`` and ``series``, the columns of the Parquet files (``{"name", "kind", "or_null", "doc"}``, where
        ``or_null`` says whether a simulation leaves the column null for some rows), ``metrics`` of samples (``{"name",
        "entity", "doc"}``), ``classes``, the keys of a class in ``summary.json``.
    """

def schema() -> str:
    """The JSON Schema of a scenario."""

def bench(case: str, seconds: float, threads: int) -> str:
    """Run one benchmark case for about `seconds` on `threads` threads and return its measurements as JSON."""

def bench_model(case: str, seconds: float) -> str:
    """The modelled gain of 2 to 64 threads in a benchmark case, as JSON."""

def bench_cases() -> list[str]:
    """The names of the benchmark cases."""

def bench_export(case: str, seconds: float, directory: str) -> float:
    """Write the fabric and flows of a benchmark case for other simulators; returns its simulated seconds."""

Sends: TypeAlias = list[tuple[int, bytes]]
"""Datapath ids, each with the OpenFlow messages to send to it."""

class Controller:
    """The sans-I/O core of the controller: OpenFlow 1.3 bytes in, OpenFlow 1.3 bytes out, without sockets or clock.

    It decodes and encodes the messages of path setup: packet-ins, flow mods and flow-removed messages, barriers,
    packet-outs. The caller handles all other messages and reports their results through the other methods. Most methods
    return messages to send at once; their transaction ids (xids) start at 2**31, lower ones belong to the caller.

    Times are seconds of a monotonic clock (``time.monotonic()``); the first one given is its origin. Switches are
    identified by datapath id; ports are OpenFlow's, without reserved ones (above 0xffffff00). Nothing that switches or
    hosts send raises an exception: malformed input is counted and otherwise ignored. An instance belongs to one thread
    at a time.
    """

    def __init__(self, settings: str) -> None:
        """Start with an empty network.

        Args:
            settings: A JSON object with the core's settings; all keys are optional, unknown ones are rejected. Besides
                those of `controller_settings`:

                * ``fabric``: null, or the expected fabric: ``{"switches": [{"name": "s1", "dpid": 1}], "cables":
                  [{"a": {"switch": "s1", "port": 3}, "b": {"switch": "s4", "port": 1}}]}``; ``port`` may be null to
                  allow any link between the two. `show` uses these names for switches; for others, the datapath id, 16
                  hexadecimal digits.

        Raises `ValueError` if a setting is not valid; the message gives the key and the valid values.
        """

    def received(
        self, now: float, dpid: int, data: bytes, place: int
    ) -> tuple[int, Sends, tuple[int, bytes] | str | None]:
        """Process `data` from a connected switch: messages from byte `place` on, the last one possibly incomplete.

        Returns:
            The end of the last message processed, messages to send, and the reason for stopping: the port and frame of
            an LLDP packet, or the error of a malformed message; both are consumed, and the call must be repeated from
            there. ``None``: the next message is incomplete or is for the caller.
        """

    def switch_up(self, now: float, dpid: int, ports: list[int], answers: list[bytes]) -> Sends:
        """A switch has connected.

        Args:
            now: Seconds.
            dpid: The switch.
            ports: Its ports that are up.
            answers: Its complete replies to a request for the rules of table 0. Rules whose cookies have upper 16 bits
                other than 0x5745 are foreign and left unchanged.

        The returned messages add missing rules, those for packet-ins first. Flows and paths of an earlier run of the
        controller are adopted; rules that lead nowhere are removed at once, unused ones later.
        """

    def switch_down(self, now: float, dpid: int, left_alone: bool) -> Sends:
        """The connection to a switch is closed; it may keep forwarding. Its pending transactions have failed.

        `left_alone`: another controller has taken it over; its differences from the expected fabric are then not
        reported.
        """

    def port_changed(self, now: float, dpid: int, port: int, up: bool) -> Sends:
        """A port came up (or was added) or went down (or was removed)."""

    def link_changed(self, now: float, source: tuple[int, int], target: tuple[int, int], up: bool) -> Sends:
        """LLDP frames of one port (datapath id, port) are received at another, or (`up` false) no longer.

        May be called for every frame, or only for the first. A link is up when it was seen in both directions; it is
        down when one direction is lost.
        """

    def refused(self, now: float, dpid: int, xid: int, reason: str) -> Sends:
        """A switch has replied with an error to the message with this transaction id.

        `reason` is counted and kept for `show`.
        """

    def frames(self, frames: list[tuple[int, int, bytes]]) -> Sends:
        """Messages that send the caller's frames, ``(dpid, port, frame)``, from these ports."""

    def next_deadline(self) -> float:
        """Time of the next call to `on_deadline`, ``inf`` for none. Any other call may change it."""

    def on_deadline(self, now: float) -> Sends:
        """Handle timeouts and evict old entries. Calling early has no effect."""

    def set_ups(self) -> list[float]:
        """Setup times in seconds of paths that a frame waited for, since the last call.

        From the arrival of the frame to that of the last switch's confirmation.
        """

    def troubles(self) -> list[tuple[Literal["late", "backlog", "repaired"], int, int]]:
        """Problems since the last call: kind, switch, and number of times or rules.

        ``"late"``: it did not confirm rules in time; ``"backlog"``: it has too many unanswered barrier requests, and
        its connection should be closed; ``"repaired"``: it had lost rules, which were reinstalled.
        """

    def offences(self) -> list[tuple[str, int, int, str | None, str | None, int]]:
        """Violations of limits and checks by hosts since the last call.

        Kind, switch, port, the MAC and the IP address claimed, and number of times: ``"packets"``, ``"lldp"``,
        ``"flows"``, ``"rules"``, ``"floods"``, ``"addresses"``: a rate limit of the port; ``"moved"``, ``"taken"``: a
        claim that the other host has refuted; ``"forged"``: an address claimed on behalf of another MAC address.
        """

    def installing(self) -> int:
        """Number of unconfirmed transactions."""

    def show(self, what: str, limit: int = 1000) -> str:
        """The state, as JSON ``{what: [...], "total": n}`` with at most `limit` entries.

        * ``connections``: ``{"id", "version", "initiator", "listener", "state", "initiator_token", "listener_token",
          "age_s", "subflows"}``, newest first: ``state`` is ``"pending"`` (until the listener's key was seen) or
          ``"established"``, tokens are 8 hexadecimal digits or null, ends are ``"10.0.0.1:40000"`` or
          ``"[fd00::1]:40000"``; each subflow is ``{"source", "destination", "kind", "state", "confirmed", "path",
          "switches"}``: ``kind`` ``"initial"`` or ``"join"``, ``state`` ``"installing"``, ``"active"`` or ``"idle"``,
          ``path`` an id, ``switches`` their names from the source on. There is also ``flows``, the number of TCP flows
          that belong to no MPTCP connection;
        * ``paths``: ``{"id", "switches", "cables", "labels", "state", "subflows", "other"}``: ``cables`` as
          ``"s1:3-s4:1"``, ``labels`` the MAC addresses in both directions (the path's part; the last 11 bits identify
          a station), ``state`` ``"installing"`` or ``"installed"``, ``subflows`` the number of its subflows, ``other``
          that of its other flows and stations;
        * ``switches``: ``{"dpid", "name", "up", "ports", "stations"}``; each port is ``{"port", "role", "to"}``:
          ``role`` ``"host"``, ``"switch"``, ``"settling"``, ``"quarantine"`` (it led to a switch and does not now) or
          ``"down"``, ``to`` ``{"switch", "port"}`` or null. There is also ``differences``: sentences about
          differences between the expected and the actual fabric, such as ``"s1 port 3 leads to s5 port 1, expected
          s4 port 1"``, and ``last_failure``: why the last install failed, or null;
        * ``stations``: ``{"mac", "switch", "port", "addresses", "seen_s"}``, ``seen_s`` seconds since it was last seen
          here.

        Raises:
            ValueError: `what` is not one of these.
        """

    def counters(self) -> dict[str, int]:
        """Counters since the start and sizes now, by name; the name of a size ends in ``_now``.

        ``memory_bytes_now`` is the size of the tables.
        """

class OpenFlow:
    """OpenFlow 1.3 messages for the handshake and for queries to a switch.

    `xid` is the transaction id of the message; a number that does not fit its field raises `OverflowError`.
    """

    @staticmethod
    def hello(xid: int) -> bytes:
        """A Hello that offers only version 1.3."""

    @staticmethod
    def hello_failed(xid: int, reason: str) -> bytes:
        """An error: no common version; the switch logs the reason."""

    @staticmethod
    def echo_request(xid: int) -> bytes:
        """An echo request."""

    @staticmethod
    def echo_reply(xid: int, data: bytes) -> bytes:
        """The reply to an echo request with its data.

        Raises `ValueError` if the message would have more than 65535 bytes.
        """

    @staticmethod
    def features_request(xid: int) -> bytes:
        """Requests the datapath id."""

    @staticmethod
    def send_whole_frames(xid: int) -> bytes:
        """Configures a switch to send complete frames in packet-ins, and to treat fragments like other packets."""

    @staticmethod
    def become_master(xid: int, generation: int) -> bytes:
        """Requests the master role."""

    @staticmethod
    def become_slave(xid: int, generation: int) -> bytes:
        """Requests the slave role."""

    @staticmethod
    def role_request(xid: int) -> bytes:
        """Queries the role without changing it."""

    @staticmethod
    def ports_request(xid: int) -> bytes:
        """Requests all ports."""

    @staticmethod
    def description_request(xid: int) -> bytes:
        """Requests the description of the switch."""

    @staticmethod
    def rules_request(xid: int, cookie: int = 0, mask: int = 0) -> bytes:
        """Requests the rules of table 0 whose cookies equal `cookie` in the bits of `mask`."""

    @staticmethod
    def count_request(xid: int, cookie: int, mask: int) -> bytes:
        """Requests the number of such rules."""

    @staticmethod
    def versions(hello: bytes) -> list[int]:
        """The versions that a Hello offers: those in its bitmap, else all up to the version in its header.

        Raises `ValueError` if it is malformed.
        """

    @staticmethod
    def read(message: bytes) -> tuple[str, tuple[Any, ...]] | None:
        """Decode a message of a switch to its kind and values; None for other kinds.

        * ``features``: datapath id, auxiliary id;
        * ``port``: the port, as ``(number, name, MAC address, up)`` with name and address as bytes, and whether it was
          removed;
        * ``removed``: the cookie of a removed rule;
        * ``refused``: the error as text, whether it concerns the version, whether it concerns the role;
        * ``role``: whether it is master, whether it is slave, the generation id;
        * ``ports``: whether more follow, the ports;
        * ``rules``: whether more follow, the message, the cookies of its rules;
        * ``count``: number of rules;
        * ``description``: hardware and software, as bytes.

        Raises `ValueError` if it is malformed.
        """

def tag_forward_state(k: int, external: int = 0) -> str:
    """The entries that switches of a full fat-tree need with tags and with OpenFlow rules, as JSON.

    The JSON has `k`, `servers`, `flows` (one from each server to every other), `tagged` and `openflow` (rules over all
    switches), and `layers`, from the bottom up, each with `layer`, `switches`, `gates`, and `tagged` and `openflow` per
    switch.

    Args:
        k: Ports of a switch.
        external: External links per core.

    Raises:
        ValueError: k is odd, below 2, or above 1024.
    """

class GatePlan:
    """The gates of Tag-and-Forward for a fabric wired as a fat-tree, and the paths through them.

    Names of switches and hosts are those of the fabric; ports count from 0. Hosts on edge switches are servers, hosts
    on cores are the far ends of external links. `docs/gates.md` explains the numbers.

    Every method that creates a plan raises `ValueError` if it is impossible: the fabric is not a fat-tree (the message
    names the misplaced links, such as ``as3-eth2 goes to cs4, expected cs1``), the tag is too narrow for it, or `width`
    is neither ``"narrow"`` nor ``"wide"``.
    """

    @staticmethod
    def of_file(name: str, text: str, width: str = "narrow", external_places: int | None = None) -> GatePlan:
        """The plan of a fabric file.

        Args:
            name: Its name, whose extension selects the format: ``.toml``, ``.graphml``, ``.json``.
            text: Its contents.
            width: Width of the tags.
            external_places: Number of external links per core to reserve gates for; k/2 by default.

        Raises `ScenarioError` if the text is not a valid fabric.
        """

    @staticmethod
    def of_scenario(
        text: str,
        name: str,
        base_dir: str,
        sets: list[str],
        width: str = "narrow",
        external_places: int | None = None,
    ) -> GatePlan:
        """The plan of a scenario's fabric, at its first point. Raises `ScenarioError` if the scenario is not valid."""

    @staticmethod
    def fat_tree(k: int, routers: int = 0, width: str = "narrow") -> GatePlan:
        """The plan of the fat-tree with `k` ports per switch and `routers` external routers per core."""

    def given(self, switches: str) -> GatePlan:
        """A plan with user-defined gates for this fabric and width, after validating them.

        Args:
            switches: A JSON list in the format of ``switches`` in `json`. `peer` is optional.

        Raises `ValueError` if they are malformed or violate a property: the message names property, switch, port and
        gates.
        """

    def json(self) -> str:
        """``{"k": 4, "width": "narrow", "switches": [...]}``.

        A switch is ``{"switch": "e0", "layer": "edge", "down_divisor": 2, "up_divisor": 8, "gates": [...]}``; layers
        are ``edge``, ``aggregation`` and ``core``. A gate is ``{"port": 0, "gate": 2, "direction": "down", "flag":
        "G_SRV", "peer": "h0"}``; flags are ``G_SRV``, ``G_EXT`` and ``G_ASS``, and a gate may have none.
        """

    def hosts(self) -> list[str]:
        """The names of all hosts, in the fabric's order."""

    def warnings(self) -> list[str]:
        """Parts of the fabric file that Weft ignores."""

    def cables(self) -> list[tuple[str, int, str, int]]:
        """All links, each as node and port of both ends."""

    def bits(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """For DOWN, then for UP: the bits that the highest gate needs, and those available in the tag."""

    def choices(self, source: str, destination: str) -> int:
        """Number of paths between two hosts. Raises `ValueError` if there is no such host."""

    def steering(self, source: str, destination: str, choice: int) -> tuple[str, int, int, int] | None:
        """The steering of a path: the source's switch, its outgoing gate, UP, DOWN.

        None if the path does not exist. If the gate pops tags (also the last of `route`), none is pushed.

        Raises `ValueError` if there is no such host.
        """

    def route(self, source: str, destination: str, choice: int) -> list[tuple[str, int, int]] | None:
        """The switches of a path, each with its outgoing port and gate.

        None if the path does not exist.

        Raises `ValueError` if there is no such host.
        """

class Provisioner:
    """The flow tables of a fat-tree with Tag-and-Forward, updated while links fail and recover.

    Its methods return requests to the control sockets of switches (`docs/switchd.md`), and raise `ValueError` for
    unknown switches.
    """

    def __init__(self, plan: GatePlan, addresses: dict[str, list[str]]) -> None:
        """The rules of the plan's fabric.

        Args:
            plan: The gates.
            addresses: The IP addresses of hosts, by name; there are no rules for a host without any.

        Raises `ValueError` if a host does not exist, or an address is not valid.
        """

    def gates(self, switch: str) -> str:
        """The body of ``PUT /v1/gates``."""

    def flows(self, switch: str, pairs: list[tuple[str, str]] | None = None) -> str:
        """The body of ``PUT /v1/flows``: the switch's groups with their current paths, and its rules.

        Args:
            switch: The switch.
            pairs: Only rules for these sources and destinations, as in `pair`, without those it rejects; None: a rule
                for every host.
        """

    def link_changed(self, switch: str, port: int, up: bool) -> list[tuple[str, int, str]]:
        """The outgoing direction of a link has failed or recovered; a link with one direction down is not used.

        Returns:
            The changes: switch, one of its groups, and the change for ``POST /v1/flows``.

        Raises:
            ValueError: Also if the switch has no such port.
        """

    def pair(self, switch: str, source: str, destination: str) -> str:
        """The rule for frames between two addresses that enter at a switch, as a change.

        Raises:
            ValueError: Also if the switch cannot forward frames between the two; the message gives the reason.
        """
