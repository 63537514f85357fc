"""The flows of a run in the formats of other simulators.

* `fct`: conweave-ns3's file of completion times: a line per finished flow,
  ``src dst sport dport bytes start_ns fct_ns standalone_ns``, in order of completion. Hosts have the node numbers of
  the topology (`node_numbers`).
* `flowmonitor`: the XML of ns-3's FlowMonitor, a flow for each that sent a packet. Only data packets and their payload
  count. A host's address is that of an emulated run. A result has means over a flow's packets, so the sums are these
  times the packets received; the times of the first packet received and the last one sent are those of a packet with
  the mean delay.
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import polars as pl

from . import _weft
from .one_run import Run
from .results import Results

_TCP, _UDP = "6", "17"
"""Protocol numbers of IP: all protocols except TCP are over UDP."""
_PREFIXES = ("h", "")
"""The text before the number in the names of hosts."""
_FIRST_ADDRESS = ipaddress.IPv4Address("10.0.0.1")


def export(results: Results, run: Run, form: str) -> str:
    """The flows of a finished run as text: `fct` or `flowmonitor`."""
    summary = run.summary()
    flows = results.only([run.id]).flows(measured=False)
    return _fct(flows, node_numbers(summary["nodes"])) if form == "fct" else _flowmonitor(flows, summary)


def without_ideal(results: Results, run: Run) -> int:
    """The number of finished flows that the `fct` file leaves out, since they have no ideal completion time."""
    flows = results.only([run.id]).flows(measured=False)
    return flows.filter(pl.col("fct_ps").is_not_null() & pl.col("ideal_fct_ps").is_null()).height


def are_positions(nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no numbers follow from the names of the hosts, so that `node_numbers` are positions."""
    return not any(all(_number(host, prefix) for host in _hosts(nodes)) for prefix in _PREFIXES)


def node_numbers(nodes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The number of each host in the topology.

    It is the `n` of its name if every host is called `hn`, as in the topologies of conweave-ns3 and HPCC and in Weft's
    own, and as the reader of flow lists takes it; or the name itself if every host has a number for a name. Otherwise,
    it is the position among all nodes, hosts and switches, from 0.
    """
    hosts = _hosts(nodes)
    if are_positions(nodes):
        wanted = set(hosts)
        return {node["name"]: number for number, node in enumerate(nodes) if node["name"] in wanted}
    return {host: int(host.removeprefix("h")) for host in hosts}


def _hosts(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    return [node["name"] for node in nodes if node["role"] == "host"]


def _number(name: str, prefix: str) -> bool:
    """Whether a name is this prefix and a number without leading zeros."""
    return re.fullmatch(f"{prefix}(0|[1-9][0-9]*)", name, re.ASCII) is not None


def _fct(flows: pl.DataFrame, numbers: Mapping[str, int]) -> str:
    finished = flows.filter(pl.col("fct_ps").is_not_null() & pl.col("ideal_fct_ps").is_not_null())
    columns = ["src", "dst", "sport", "dport", "bytes", "start_ps", "fct_ps", "ideal_fct_ps"]
    lines = []
    for src, dst, sport, dport, size, *times in finished.sort("end_ps", "flow").select(columns).iter_rows():
        whole = " ".join(str((time + 500) // 1000) for time in times)
        lines.append(f"{numbers[src]} {numbers[dst]} {sport} {dport} {size} {whole}\n")
    return "".join(lines)


def _flowmonitor(flows: pl.DataFrame, summary: Mapping[str, Any]) -> str:
    numbers = {host: number for number, host in enumerate(_hosts(summary["nodes"]))}
    protocol = _TCP if summary["transport"].get("protocol", "tcp") == "tcp" else _UDP
    root = ElementTree.Element("FlowMonitor")
    stats = ElementTree.SubElement(root, "FlowStats")
    classifier = ElementTree.SubElement(root, "Ipv4FlowClassifier")
    sent = flows.filter(pl.col("packets_sent") > 0).sort("flow")
    for number, flow in enumerate(sent.iter_rows(named=True), start=1):
        lost = flow["drops"] or 0
        received = max(flow["packets_sent"] - lost, 0)
        delay, jitter = flow.get("delay_ps") or 0, flow.get("jitter_ps") or 0
        last = _last(flow, summary)
        share = received / flow["packets_sent"] if flow["end_ps"] is None else 1
        attributes = {
            "flowId": number,
            "timeFirstTxPacket": _time(flow["start_ps"]),
            "timeFirstRxPacket": _time(flow["start_ps"] + delay),
            "timeLastTxPacket": _time(max(last - delay, flow["start_ps"])),
            "timeLastRxPacket": _time(last),
            "delaySum": _time(delay * received),
            "jitterSum": _time(jitter * max(received - 1, 0)),
            "lastDelay": _time(delay),
            "txBytes": flow["bytes"],
            "rxBytes": round(flow["bytes"] * share),
            "txPackets": flow["packets_sent"],
            "rxPackets": received,
            "lostPackets": lost,
            "timesForwarded": received * max(flow["hops"] - 1, 0),
        }
        ElementTree.SubElement(stats, "Flow", {key: str(value) for key, value in attributes.items()})
        ends = {
            "flowId": str(number),
            "sourceAddress": _address(numbers[flow["src"]]),
            "destinationAddress": _address(numbers[flow["dst"]]),
            "protocol": protocol,
            "sourcePort": str(flow["sport"]),
            "destinationPort": str(flow["dport"]),
        }
        ElementTree.SubElement(classifier, "Flow", ends)
    ElementTree.indent(root)
    return '<?xml version="1.0" ?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _last(flow: Mapping[str, Any], summary: Mapping[str, Any]) -> int:
    """When the last packet of a flow arrived: without a connection, a source does not wait for lost ones."""
    if flow["end_ps"] is not None:
        return int(flow["end_ps"])
    end = int(summary["simulated_ps"])
    if summary["transport"].get("protocol") in _weft.WITHOUT_CONNECTIONS and flow["ideal_fct_ps"] is not None:
        return min(end, int(flow["start_ps"] + flow["ideal_fct_ps"]))
    return end


def _time(ps: int) -> str:
    """A time as ns-3 writes it."""
    return f"+{ps // 1000}.{ps % 1000:03d}ns" if ps % 1000 else f"+{ps // 1000}.0ns"


def _address(host: int) -> str:
    return str(_FIRST_ADDRESS + host)
