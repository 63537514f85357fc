"""The part of the benchmark that runs in the jail: sequential connections of four subflows each."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time

from benches.controller import lab
from weft.emulation import jail
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork
from weft.statistics import quantile

PORT = 4000
SUBFLOWS_S = 0.05
"""Pause between connections, in which the additional subflows are set up."""


def main() -> None:
    """Measure, print JSON."""
    connections, proactive = int(sys.argv[1]), int(sys.argv[2])
    jail.furnish()
    controller = lab.Controller("--proactive", str(proactive), "--idle-timeout", "60")
    with lab.network(rate_bps=100_000_000) as net:
        controller.ready()
        lab.pings(net)
        serve(net)
        idle = os.times()
        took = [connect(net) for _ in range(connections)]
        time.sleep(1)
        status = controller.show("status")
        shown = controller.show("connections")["connections"]
        whole = sum(len(one["subflows"]) == 4 for one in shown)
        controller.stop()
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
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, lab.IPPROTO_MPTCP)
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
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, lab.IPPROTO_MPTCP)
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
