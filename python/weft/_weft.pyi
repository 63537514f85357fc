"""The compiled engine: scenario reading, simulation and fabric analysis, as JSON in and out.

Everything in `weft` that needs the engine goes through these functions; the dictionaries they return as JSON are
described in `docs/results.md` and, for scenarios, in the JSON Schema that `schema()` returns.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

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

Rule: TypeAlias = tuple[
    int,
    str,
    int,
    int,
    tuple[tuple[str, int | str | tuple[str, str]], ...],
    tuple[tuple[str, int | str], ...],
    int,
    bool,
]
"""``(dpid, op, cookie, priority, match, actions, idle_timeout, notify)``, one change of one rule of table 0.

* ``op``: ``"add"`` (``OFPFC_ADD``: replaces a rule of the same match and priority), ``"modify"``
  (``OFPFC_MODIFY_STRICT``: match, priority, and cookie under a mask of all ones; changes the actions of the rule if it
  is still there, and nothing otherwise), ``"remove"`` (``OFPFC_DELETE``, not strict: every rule with this cookie under
  a mask of all ones, to any port and group; ``priority`` is 0, ``match`` is ``()`` or the rule's, ``actions`` ``()``).
* ``match``: pairs of an OXM field in os-ken's names and its value: ``in_port``, ``eth_type``, ``ip_proto``,
  ``tcp_src``, ``tcp_dst``, ``icmpv6_type`` are numbers, ``ipv4_src``, ``ipv4_dst``, ``ipv6_src``, ``ipv6_dst`` text;
  ``eth_src`` is text, ``eth_dst`` text or a pair of texts ``(value, mask)``. Fields that others need stand before
  them. ``()`` matches everything.
* ``actions``: applied in order: ``("set_eth_dst", "06:57:00:00:08:01")``, ``("output", port)``, ``("controller",
  max_len)`` (output to ``OFPP_CONTROLLER``). ``()`` drops. They go into one apply-actions instruction.
* ``idle_timeout``: seconds, 0 for none. There are no hard timeouts.
* ``notify``: whether the rule has ``OFPFF_SEND_FLOW_REM``.
"""

Command: TypeAlias = (
    tuple[Literal["install"], int, list[Rule], list[tuple[int, int, bytes]]]
    | tuple[Literal["packet_out"], int, int | None, list[int], bytes]
)
"""What the network is to do, in the order of the list.

* ``("install", id, rules, release)``: send `rules` in their order, each to its switch (the order between two switches
  need not be kept, but rules for the destination's end stand first), then one barrier request to every switch among
  them. When every barrier was answered without an error, send each frame of `release`, ``(dpid, in_port, frame)``, by
  packet-out with that ``in_port`` and output to ``OFPP_TABLE``, and only then call `Controller.installed` with `id`.
  On the first error message, or if a switch of it is gone, call `Controller.failed` once and send nothing of
  `release`. With `id` 0 nobody waits: no barrier is needed, `release` is empty, and neither call is made.
* ``("packet_out", dpid, in_port, ports, frame)``: send `frame` out of `ports`, at once. `in_port` is ``None`` for
  ``OFPP_CONTROLLER``. A port may be 0xfffffff9 (``OFPP_TABLE``).

Rules of later commands may depend on those of earlier ones: to one switch, commands go in their order.
"""

class Controller:
    """The controller's core: what happens in the network goes in, commands come out. It owns no socket and no clock.

    Times are seconds of a clock that never goes back (``time.monotonic()``); the first one given is its origin. Ids
    of switches are datapath ids; ports are OpenFlow's, reserved ones (above 0xffffff00) are left out. Nothing that
    switches or hosts send raises: what makes no sense is counted and otherwise ignored. An instance belongs to one
    thread at a time.
    """

    def __init__(self, settings: str) -> None:
        """Start with an empty network.

        Args:
            settings: A JSON object; every key may be left out, an unknown one is refused.

                * ``controller``: ``"smoc"`` (default) or ``"spanning-tree"``, the baseline;
                * ``paths``: how many paths a set has (8; 1 to 64);
                * ``order``: ``"paper"`` (default, Algorithm 1) or ``"disjoint"``;
                * ``proactive_paths``: how many paths of a set are installed as soon as a connection is seen, the first
                  among them (4; 1 to 64, `paths` at most; 1 is the paper's reactive way);
                * ``idle_timeout_s``: of rules of flows and stations (10; 1 to 3600);
                * ``remember_s``: how long a flow without rules keeps its place in its connection (60; 0 to 86400);
                * ``settle_s``: how long a port that came up must be without LLDP before it counts as a host's (1.0);
                * ``install_deadline_s``: an install that is not answered by then has failed (2.0);
                * ``handshake_s``: how long a new MPTCP connection's packets are copied up at most (3.0);
                * ``arp``: ``"proxy"`` (default: the controller answers for known hosts) or ``"pass"`` (the request goes
                  to the host's port only);
                * ``copy_bytes``: how much of a packet is sent up (256; 128 to 65535);
                * ``hash_key``: number with which tables that hosts choose keys of are hashed (0): give a random one;
                * ``limits``: ``{"switches": 1024, "cables": 16384, "stations": 65536, "stations_per_port": 256,
                  "addresses_per_station": 16, "flows": 500000, "flows_per_port": 100000, "unconfirmed_per_port": 4096,
                  "new_flows_per_port_s": 5000, "addresses_per_port_s": 100, "floods_per_port_s": 100,
                  "held_frames": 4096, "differences": 1000}``;
                * ``fabric``: null, or what there should be: ``{"switches": [{"name": "s1", "dpid": 1}], "cables":
                  [{"a": {"switch": "s1", "port": 3}, "b": {"switch": "s4", "port": 1}}]}``; ``port`` may be null, and
                  then any cable between the two will do. Switches are called by these names in `show`; others
                  by their datapath id, 16 hexadecimal digits.

        Raises:
            ValueError: `settings` is not that; the message has the key and what it must be.
        """

    def switch_up(self, now: float, dpid: int, ports: list[int], cookies: list[int]) -> list[Command]:
        """A switch has connected.

        Args:
            now: Seconds.
            dpid: The switch.
            ports: Those of its ports that are up.
            cookies: The cookies of all rules in its table 0 (of those whose upper 16 bits are 0x5745 at least; rules
                with others are not the controller's and are left alone).

        The commands remove what should not be there and add what is missing, the rules that send packets up first.
        """

    def switch_down(self, now: float, dpid: int) -> list[Command]:
        """The connection to a switch is gone; it may go on forwarding. Its open transactions have failed thereby."""

    def port_changed(self, now: float, dpid: int, port: int, up: bool) -> list[Command]:
        """A port has come up (or is new) or has gone down (or is no more)."""

    def link_up(self, now: float, from_dpid: int, from_port: int, to_dpid: int, to_port: int) -> list[Command]:
        """A frame (LLDP) of the one port was received at the other. Give it whenever seen, or the first time only.

        A cable is known when it was seen in both directions.
        """

    def link_down(self, now: float, from_dpid: int, from_port: int, to_dpid: int, to_port: int) -> list[Command]:
        """Such frames have not been received for too long. One direction is enough: the cable is down."""

    def packet_in(self, now: float, dpid: int, in_port: int, cookie: int, frame: bytes) -> list[Command]:
        """A frame that a switch sent up; not LLDP, which the caller keeps for itself.

        `cookie` is the message's: of the rule that sent it up, 0xffffffffffffffff where none did. By it a copy of what
        was forwarded is told from a frame that waits here. The frame may be cut at ``copy_bytes`` if it is a copy, else
        it must be whole (``OFPCML_NO_BUFFER``).
        """

    def installed(self, now: float, id: int) -> list[Command]:
        """All switches of the transaction have answered, its frames were released."""

    def failed(self, now: float, id: int, dpid: int, reason: str) -> list[Command]:
        """A switch refused a rule of the transaction, or is gone. `reason` is counted and kept for `show`."""

    def rule_removed(self, now: float, dpid: int, cookie: int, packets: int, bytes: int) -> list[Command]:
        """A rule has idled out (``OFPFF_SEND_FLOW_REM``, reason ``OFPRR_IDLE_TIMEOUT`` or ``OFPRR_EVICTION``).

        A message with reason ``OFPRR_DELETE`` answers a command and is not to be handed on.
        """

    def next_deadline(self) -> float:
        """When `on_deadline` wants to be called, ``inf`` for not at all. Any other call may change it."""

    def on_deadline(self, now: float) -> list[Command]:
        """Something that was waited for has not come, or is old enough to be forgotten. Calling early does nothing."""

    def show(self, what: str, limit: int = 1000) -> str:
        """What is known, as JSON ``{what: [...], "total": n}`` with at most `limit` entries.

        * ``connections``: ``{"id", "version", "initiator", "listener", "state", "initiator_token", "listener_token",
          "age_s", "subflows"}``, the youngest first: ``state`` is ``"pending"`` (until the listener's key was seen) or
          ``"established"``, tokens are 8 hexadecimal digits or null, ends are ``"10.0.0.1:40000"`` or
          ``"[fd00::1]:40000"``; each subflow is ``{"source", "destination", "kind", "state", "confirmed", "path",
          "switches"}``: ``kind`` ``"initial"`` or ``"join"``, ``state`` ``"installing"``, ``"active"`` or ``"idle"``,
          ``path`` an id, ``switches`` their names from the source on. Beside ``total`` stands ``flows``, how many TCP
          flows there are that belong to no connection;
        * ``paths``: ``{"id", "switches", "cables", "labels", "state", "subflows", "other"}``: ``cables`` as
          ``"s1:3-s4:1"``, ``labels`` the MAC addresses there and back (of the path's part; the last 11 bits name a
          station), ``state`` ``"installing"`` or ``"installed"``, ``subflows`` how many use it, ``other`` how many
          flows and stations beside them;
        * ``switches``: ``{"dpid", "name", "up", "ports", "stations"}``; each port is ``{"port", "role", "to"}``:
          ``role`` ``"host"``, ``"switch"``, ``"settling"``, ``"quarantine"`` (it led to a switch and does not now) or
          ``"down"``, ``to`` ``{"switch", "port"}`` or null. Beside ``total`` stands ``differences``: sentences that
          say where the expected fabric and the found one differ, such as ``"s1 port 3 leads to s5 port 1, expected
          s4 port 1"``, and ``last_failure``: why the last install failed, or null;
        * ``stations``: ``{"mac", "switch", "port", "addresses", "seen_s"}``, ``seen_s`` seconds since it was last heard
          of here.

        Raises:
            ValueError: `what` is none of these.
        """

    def counters(self) -> dict[str, int]:
        """Counters since the start and sizes now, by name; the name of a size ends in ``_now``.

        ``memory_bytes_now`` is what the tables hold.
        """

def flow_mods(first_xid: int, rules: list[Rule], barrier: bool) -> bytes:
    """OpenFlow 1.3 flow-mods for `rules`, with consecutive transaction ids, and a barrier request after them.

    Raises:
        ValueError: A rule is not what `Rule` says, or longer than a message can be.
    """

def packet_out(xid: int, in_port: int, ports: list[int], frame: bytes) -> bytes:
    """An OpenFlow 1.3 packet-out of `frame`, as if it had come in at `in_port`, by each of `ports`.

    Raises:
        ValueError: It is longer than a message can be.
    """

def packet_in(message: bytes) -> tuple[int, int, bytes]:
    """Port, cookie and frame of an OpenFlow 1.3 packet-in.

    Raises:
        ValueError: It is none.
    """
