"""The compiled engine: scenario reading, simulation and fabric analysis, as JSON in and out.

Everything in `weft` that needs the engine goes through these functions; the dictionaries they return as JSON are
described in `docs/results.md` and, for scenarios, in the JSON Schema that `schema()` returns.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

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
        OSError: A file cannot be read or written, or the run's result already exists.
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

def fabric_as(target: str, text: str, name: str, base_dir: str, sets: list[str]) -> str:
    """The fabric of a scenario as the text of a fabric file, in the format that the ending of `target` names.

    Raises:
        ScenarioError: The scenario is not valid, the ending is none of a fabric file, or the format cannot hold a name.
    """

def fabric_file_as(target: str, path: str) -> str:
    """The same of a fabric file, which need not have hosts.

    Raises:
        ScenarioError: As `fabric_as`.
    """

def network_file(path: str) -> str:
    """Name, nodes and links of a fabric file that need not have hosts.

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

Sends: TypeAlias = list[tuple[int, bytes]]
"""Datapath ids, and the OpenFlow messages that each is to be sent."""

class Controller:
    """The controller, from the bytes of OpenFlow 1.3 to the bytes of OpenFlow 1.3. It owns no socket and no clock.

    It reads and makes what every path costs: packet-ins, rules and their removal, barriers, packet-outs. What else
    switches say is its caller's, who tells what came of it by the other methods. Most of them return what is to be
    sent, to be written at once; it has transaction ids (xids) from 2**31 on, and those below are the caller's.

    Times are seconds of a clock that never goes back (``time.monotonic()``); the first one given is its origin. Ids
    of switches are datapath ids; ports are OpenFlow's, reserved ones (above 0xffffff00) are left out. Nothing that
    switches or hosts send raises: what makes no sense is counted and otherwise ignored. An instance belongs to one
    thread at a time.
    """

    def __init__(self, settings: str, *, install_deadline_s: float = 2.0, packets_per_port_s: int = 5000) -> None:
        """Start with an empty network.

        Args:
            install_deadline_s: A switch that does not confirm rules for that long (0.001 to 60 s) has failed to
                install them.
            packets_per_port_s: Of what a port sends up in a second, more packets are dropped.
            settings: A JSON object of the core; every key may be left out, an unknown one is refused.

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
                * ``epoch``: number that tells rules of one run from those of the next (0; below 2**32);
                * ``limits``: ``{"switches": 1024, "cables": 16384, "stations": 65536, "stations_per_port": 256,
                  "addresses_per_station": 16, "flows": 500000, "flows_per_port": 100000, "unconfirmed_per_port": 4096,
                  "new_flows_per_port_s": 5000, "addresses_per_port_s": 100, "floods_per_port_s": 100,
                  "held_frames": 4096, "differences": 1000}``;
                * ``fabric``: null, or what there should be: ``{"switches": [{"name": "s1", "dpid": 1}], "cables":
                  [{"a": {"switch": "s1", "port": 3}, "b": {"switch": "s4", "port": 1}}]}``; ``port`` may be null, and
                  then any cable between the two will do. Switches are called by these names in `show`; others
                  by their datapath id, 16 hexadecimal digits.

        Raises:
            ValueError: One of them is not that; the message has the key and what it must be.
        """

    def received(
        self, now: float, dpid: int, data: bytes, place: int
    ) -> tuple[int, Sends, tuple[int, bytes] | str | None]:
        """A switch that is up has sent `data`: its messages from byte `place` on, the last maybe not whole.

        Returns:
            The place behind the last message that was read, what is to be sent, and why it went no further: the port
            and frame of an LLDP packet, or what was wrong with a message; both are read, and the call is to be
            repeated from there. Else ``None``: the message that follows is not whole, or is for the caller.
        """

    def switch_up(self, now: float, dpid: int, ports: list[int], answers: list[bytes]) -> Sends:
        """A switch has connected.

        Args:
            now: Seconds.
            dpid: The switch.
            ports: Those of its ports that are up.
            answers: The messages with which it has answered a question for the rules of its table 0, whole. Rules whose
                cookies have other upper 16 bits than 0x5745 are not the controller's and are left alone.

        What is sent adds what is missing, the rules that send packets up first. Flows and paths of another run of the
        controller are taken over; what leads nowhere is removed at once, what is of no use later.
        """

    def switch_down(self, now: float, dpid: int, left_alone: bool) -> Sends:
        """The connection to a switch is gone; it may go on forwarding. Its open transactions have failed thereby.

        It is left alone if another controller has taken it over: then nothing is said of how it differs from the
        expected fabric.
        """

    def port_changed(self, now: float, dpid: int, port: int, up: bool) -> Sends:
        """A port has come up (or is new) or has gone down (or is no more)."""

    def link_up(self, now: float, from_dpid: int, from_port: int, to_dpid: int, to_port: int) -> Sends:
        """A frame (LLDP) of the one port was received at the other. Give it whenever seen, or the first time only.

        A cable is known when it was seen in both directions.
        """

    def link_down(self, now: float, from_dpid: int, from_port: int, to_dpid: int, to_port: int) -> Sends:
        """Such frames have not been received for too long. One direction is enough: the cable is down."""

    def refused(self, now: float, dpid: int, xid: int, reason: str) -> Sends:
        """A switch has answered the message with this transaction id with an error.

        `reason` is counted and kept for `show`.
        """

    def frames(self, frames: list[tuple[int, int, bytes]]) -> Sends:
        """Has frames of the caller's, ``(dpid, port, frame)``, sent by these ports."""

    def next_deadline(self) -> float:
        """When `on_deadline` wants to be called, ``inf`` for not at all. Any other call may change it."""

    def on_deadline(self, now: float) -> Sends:
        """Something that was waited for has not come, or is old enough to be forgotten. Calling early does nothing."""

    def set_ups(self) -> list[float]:
        """How many seconds paths took since this was last asked, of those that a frame waited for.

        From the arrival of the frame to that of the last switch's confirmation.
        """

    def troubles(self) -> list[tuple[Literal["late", "backlog", "repaired"], int, int]]:
        """What somebody should look after since this was last asked, the switch, and how many times or rules.

        ``"late"``: it has not confirmed rules in time; ``"backlog"``: it has left more barrier requests unanswered than
        it may, and its connection should end; ``"repaired"``: it had lost rules, and was given them again.
        """

    def offences(self) -> list[tuple[str, int, int, str | None, str | None, int]]:
        """What hosts did that a limit or a check stopped, since this was last asked.

        What it was, the switch, the port, the MAC and the IP address that were claimed, and how many times:
        ``"packets"``, ``"lldp"``, ``"flows"``, ``"rules"``, ``"floods"``, ``"addresses"``: more than the port may;
        ``"moved"``, ``"taken"``: a claim that the other host has refuted; ``"forged"``: an address claimed in the
        name of another MAC address.
        """

    def installing(self) -> int:
        """The transactions that are not confirmed."""

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

class OpenFlow:
    """Messages of OpenFlow 1.3, for the beginning of a connection and for questions to a switch.

    `xid` is the transaction id of the message that is made; a number that does not fit its field raises
    `OverflowError`.
    """

    @staticmethod
    def hello(xid: int) -> bytes:
        """Offers version 1.3, and no other."""

    @staticmethod
    def hello_failed(xid: int, reason: str) -> bytes:
        """There is no common version; the switch shows the reason in its log."""

    @staticmethod
    def echo_request(xid: int) -> bytes:
        """Asks whether the switch is there."""

    @staticmethod
    def echo_reply(xid: int, data: bytes) -> bytes:
        """Answers an echo request with its data.

        Raises:
            ValueError: The message would have more than 65535 bytes.
        """

    @staticmethod
    def features_request(xid: int) -> bytes:
        """Asks for the datapath id."""

    @staticmethod
    def send_whole_frames(xid: int) -> bytes:
        """Has a switch send up frames whole, and treat fragments as other packets."""

    @staticmethod
    def become_master(xid: int, generation: int) -> bytes:
        """Asks to be the one that steers."""

    @staticmethod
    def become_slave(xid: int, generation: int) -> bytes:
        """Asks to be one that only watches."""

    @staticmethod
    def role_request(xid: int) -> bytes:
        """Asks for the role, and changes nothing."""

    @staticmethod
    def ports_request(xid: int) -> bytes:
        """Asks for all ports."""

    @staticmethod
    def description_request(xid: int) -> bytes:
        """Asks what switch it is."""

    @staticmethod
    def rules_request(xid: int, cookie: int = 0, mask: int = 0) -> bytes:
        """Asks for the rules of table 0 whose cookies are `cookie` where `mask` has ones."""

    @staticmethod
    def count_request(xid: int, cookie: int, mask: int) -> bytes:
        """Asks how many such rules there are."""

    @staticmethod
    def versions(hello: bytes) -> list[int]:
        """The versions that a Hello offers: its bitmap's, else all up to that of its header.

        Raises:
            ValueError: It cannot be read.
        """

    @staticmethod
    def read(message: bytes) -> tuple[str, tuple[Any, ...]] | None:
        """What a switch says in a message, and its values; None for messages of other kinds.

        * ``features``: datapath id, auxiliary id;
        * ``port``: the port, as ``(number, name, MAC address, up)`` with name and address as bytes, and whether it is
          gone;
        * ``removed``: the cookie of a rule that is no more;
        * ``refused``: the error in words, whether it is about the version, whether it is about the role;
        * ``role``: whether it is master, whether it is slave, the generation id;
        * ``ports``: whether more are to come, the ports;
        * ``rules``: whether more are to come, the message, the cookies of its rules;
        * ``count``: how many rules there are;
        * ``description``: hardware and software, as bytes.

        Raises:
            ValueError: It cannot be read.
        """

def tag_forward_state(k: int, external: int = 0) -> str:
    """The entries that switches of a full fat-tree need, by tags and by OpenFlow rules, as JSON.

    The JSON has `k`, `servers`, `flows` (one from each server to every other), `tagged` and `openflow` (rules in all
    switches together), and `layers`, from the bottom up, each with `layer`, `switches`, `gates`, and `tagged` and
    `openflow` of one switch.

    Args:
        k: Ports of a switch.
        external: External links of a core.

    Raises:
        ValueError: k is odd, below 2, or above 1024.
    """

class GatePlan:
    """The gates of Tag-and-Forward for a fabric that is wired as a fat-tree, and the ways through them.

    Switches, hosts and ports are called as in the fabric; ports count from 0. Hosts on edge switches are servers, hosts
    on cores are what external links lead to. `docs/gates.md` says what the numbers mean.

    Every method that makes a plan raises `ValueError` if there is none: the fabric is no fat-tree (the message names
    the cables that are elsewhere, such as ``as3-eth2 goes to cs4, expected cs1``), the tag is too narrow for it, or
    `width` is neither ``"narrow"`` nor ``"wide"``.
    """

    @staticmethod
    def of_file(name: str, text: str, width: str = "narrow", external_places: int | None = None) -> GatePlan:
        """The plan of a fabric file.

        Args:
            name: Its name, whose ending says the format: ``.toml``, ``.graphml``, ``.json``.
            text: What is in it.
            width: Of the tags.
            external_places: For how many external links each core has numbers; k/2 by default.

        Raises:
            ScenarioError: The text is no fabric.
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
        """The plan of a scenario's fabric, its first point's.

        Raises:
            ScenarioError: The scenario is not valid.
        """

    @staticmethod
    def fat_tree(k: int, routers: int = 0, width: str = "narrow") -> GatePlan:
        """The plan of the fat-tree with `k` ports a switch and `routers` external routers on each core."""

    def given(self, switches: str) -> GatePlan:
        """The plan of gates that somebody gives for this fabric and width, once they are found to be right.

        Args:
            switches: A JSON list, as ``switches`` in `json`. A `peer` may be left out.

        Raises:
            ValueError: They are none, or break a property: the message names property, switch, port and gates.
        """

    def json(self) -> str:
        """``{"k": 4, "width": "narrow", "switches": [...]}``.

        A switch is ``{"switch": "e0", "layer": "edge", "down_divisor": 2, "up_divisor": 8, "gates": [...]}``; layers
        are ``edge``, ``aggregation`` and ``core``. A gate is ``{"port": 0, "gate": 2, "direction": "down", "flag":
        "G_SRV", "peer": "h0"}``; flags are ``G_SRV``, ``G_EXT`` and ``G_ASS``, and a gate may have none.
        """

    def hosts(self) -> list[str]:
        """The names of all hosts, in the fabric's order."""

    def cables(self) -> list[tuple[str, int, str, int]]:
        """All cables, each by a node and its port at either end."""

    def bits(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Of DOWN, then of UP: the bits that the greatest gate needs, and those that the tag has."""

    def choices(self, source: str, destination: str) -> int:
        """How many ways there are from a host to another; 0 if none.

        Raises:
            ValueError: There is no such host.
        """

    def steering(self, source: str, destination: str, choice: int) -> tuple[str, int, int, int] | None:
        """What makes frames take a way: the switch at the source, the gate through which they leave it, UP, DOWN.

        None where there is no such way. If the gate pops tags (the last of `route`, too), none is pushed.

        Raises:
            ValueError: There is no such host.
        """

    def route(self, source: str, destination: str, choice: int) -> list[tuple[str, int, int]] | None:
        """The switches over which frames of a way go, each with the port and the gate through which they leave it.

        None where there is no such way.

        Raises:
            ValueError: There is no such host.
        """

class Provisioner:
    """The flow tables of a fat-tree under Tag-and-Forward, kept while cables fail and heal.

    What it returns are requests to the control sockets of switches, as `docs/switchd.md` describes them. A method
    raises `ValueError` if there is no such switch.
    """

    def __init__(self, plan: GatePlan, addresses: dict[str, list[str]]) -> None:
        """The rules of the plan's fabric.

        Args:
            plan: The gates.
            addresses: The IP addresses of hosts, by name; there are no rules for a host without any.

        Raises:
            ValueError: There is no such host, or an address is none.
        """

    def gates(self, switch: str) -> str:
        """The body of ``PUT /v1/gates``."""

    def flows(self, switch: str, pairs: list[tuple[str, str]] | None = None) -> str:
        """The body of ``PUT /v1/flows``: the switch's groups with the ways that they have now, and its rules.

        Args:
            switch: Whose.
            pairs: Have rules for these sources and destinations alone, as `pair` makes them, those left out that
                it refuses; None: a rule for every host.
        """

    def link_changed(self, switch: str, port: int, up: bool) -> list[tuple[str, int, str]]:
        """The link that leaves a port has failed or healed; a cable with one of its links down is not used.

        Returns:
            Which switches are to be told what: the switch, one of its groups, and the change, for ``POST /v1/flows``.

        Raises:
            ValueError: Also where the switch has no such port.
        """

    def pair(self, switch: str, source: str, destination: str) -> str:
        """The rule for the frames from one address to another that come in at a switch, as a change.

        Raises:
            ValueError: Also where frames between the two are not led from there; the message says why.
        """
