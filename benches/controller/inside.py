"""The part of the benchmark that runs in the jail: sequential connections of four subflows each."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from weft.emulation import jail
from weft.emulation.controlled import LISTEN, Controller
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.samples import quantile
from weft.studies.smoc.topologies import Topology, fabric

PORT = 4000
RATE_BPS = 100_000_000
SUBFLOWS_S = 0.05
"""Pause between connections, in which the additional subflows are set up."""
IPPROTO_MPTCP = 262
"""From <netinet/in.h>; not in Python's `socket`."""
RUN = Path("/run")
"""The jail's own."""


def main() -> None:
    """Measure, print JSON."""
    connections, proactive = int(sys.argv[1]), sys.argv[2]
    jail.furnish()
    file = RUN / "topology1.fabric.toml"
    file.write_text(fabric(Topology.isolated, RATE_BPS))
    options = ("--proactive", proactive, "--idle-timeout", "60")
    network = OpenFlowNetwork(plan_of(file), controllers=[f"tcp:{LISTEN}"], subflows=4, openers=["a"])
    with Controller("smoc", file, RUN / "controller.log", options) as controller, network as net:
        controller.wait_for(net)
        with entered(net.namespaces["a"]):
            subprocess.run(["ping", "-q", "-c", "5", "-w", "8", net.address("b")], stdout=sys.stderr, check=False)
        serve(net)
        idle = os.times()
        took = [connect(net) for _ in range(connections)]
        time.sleep(1)
        status = controller.ask("status")
        shown = controller.ask("connections")["connections"]
        whole = sum(len(one["subflows"]) == 4 for one in shown)
    print(
        json.dumps(
            {
                "connections": connections,
                "known": len(shown),
                "with_four_subflows": whole,
                "path_set_up": status["status"]["path_set_up"],
                "connect": {"p50_s": quantile(took, 0.5), "p99_s": quantile(took, 0.99), "max_s": max(took)},
                "flow_mods": status["counters"]["flow_mods"],
                "load": os.getloadavg()[0],
                "cpu_s": round(sum(os.times()[:4]) - sum(idle[:4]), 2),
            }
        )
    )


def serve(net: OpenFlowNetwork) -> None:
    """Have b accept connections and keep them open."""
    with entered(net.namespaces["b"]):
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((net.address("b"), PORT))
        server.listen(1000)
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            kept.append(server.accept()[0])

    threading.Thread(target=accept, daemon=True).start()


_open: list[socket.socket] = []
"""Connections stay open, so that their rules stay."""


def connect(net: OpenFlowNetwork) -> float:
    """Open a connection from a to b; returns the seconds taken."""
    with entered(net.namespaces["a"]):
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    one.settimeout(10)
    began = time.perf_counter()
    one.connect((net.address("b"), PORT))
    took = time.perf_counter() - began
    one.send(b"x")
    _open.append(one)
    time.sleep(SUBFLOWS_S)
    return took


if __name__ == "__main__":
    main()
