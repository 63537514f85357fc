"""One run of the study in its jail: `python -m weft.studies.smoc.inside DIRECTORY`.

It reads `options.json`, reports progress on standard output and writes `observed.json`, or `failed.json`.
"""

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...emulation import iperf, mptcp, openvswitch, stack
from ...emulation.capacity import Processors, go_first, own_seconds
from ...emulation.controlled import LISTEN, Controller
from ...emulation.inside import main, say
from ...emulation.namespace import entered
from ...emulation.openflow import OpenFlowNetwork, plan_of
from ...emulation.sampling import Links
from .setup import Setup
from .topologies import RECEIVER, SENDER, fabric

_SAMPLE_S = 0.5
"""Sampling interval of links and CPUs; a sample costs a process."""
_LAST_S = 0.2
"""Time before the end of the last query of the sender's subflows: afterwards there are none."""
NONE_SEEN = "no subflow was observed during the transfer: their shares and paths are unknown"
"""The warning of a run without observed subflows."""


def run(directory: Path, options: dict[str, Any]) -> None:
    """Build, wait until the controller knows the network, send, and record the observations."""
    setup = Setup.from_json(options["setup"])
    go_first()
    say("stage", stage="building", fraction=0.0)
    file = directory / "topology.fabric.toml"
    file.write_text(fabric(setup.topology, setup.rate_bps), encoding="utf-8")
    log = directory / "controller.log"
    forwarding = setup.scheme.replace("_", "-")
    network = OpenFlowNetwork(plan_of(file), controllers=[f"tcp:{LISTEN}"], subflows=setup.subflows, openers=[SENDER])
    with Controller(forwarding, file, log) as controller, network:
        say("stage", stage="waiting for the controller", fraction=0.5)
        controller.wait_for(network)
        measured = Transfer(setup, network, controller)
        measured.carry_out()
        observed = measured.observed()
    (directory / "observed.json").write_text(json.dumps(observed), encoding="utf-8")
    say("done")


class Transfer:
    """The transfer of a run on a network that is ready, with its measurements."""

    def __init__(self, setup: Setup, network: OpenFlowNetwork, controller: Controller) -> None:
        """Takes one run."""
        self._setup, self._network, self._controller = setup, network, controller
        self._links = Links(network.plan, network.namespaces)
        self._processors = Processors()
        self._own_share = 0.0
        self._series: list[dict[str, Any]] = []
        self._subflows: list[mptcp.Subflow] = []
        self._shown: dict[str, Any] = {}
        self._found: iperf.Transfer | None = None

    def carry_out(self) -> None:
        """Send, and measure during the transfer. Raises `EmulationError` if the transfer failed."""
        network, setup = self._network, self._setup
        self._links.begin()
        self._found = iperf.transfer(
            network.namespaces[SENDER],
            network.namespaces[RECEIVER],
            network.address(RECEIVER),
            setup.seconds,
            congestion=network.stack.congestion,
            streams=setup.streams,
            wrap=mptcp.wrapped,
            meanwhile=self._look,
        )

    def observed(self) -> dict[str, Any]:
        """The measurements."""
        found, network = self._found, self._network
        assert found is not None
        counters = {}
        for host in (SENDER, RECEIVER):
            with entered(network.namespaces[host]):
                counters[host] = {name: value for name, value in mptcp.counters().items() if value}
        return {
            "transfer": asdict(found),
            "subflows": [asdict(one) for one in self._subflows],
            "links": self._links.totals(),
            "series": self._series,
            "mptcp": counters,
            "controller": self._shown | self._controller.ask("status"),
            "processors": self._processors.report() | {"own_share": self._own_share},
            "stack": {"congestion": network.stack.congestion, "route": network.route, "settings": network.settings},
            "shaping": "read back",
            "warnings": network.warnings + ([] if self._subflows else [NONE_SEEN]),
            "versions": stack.versions()
            | {"openvswitch": openvswitch.version(), "datapath": openvswitch.datapath(), "iperf3": iperf.version()},
        }

    def _look(self) -> None:
        """Sample until shortly before the end, then query the controller for the paths of subflows.

        The sender is queried with every sample: on a busy machine, the last one may come after the transfer.
        """
        setup = self._setup
        begin, before = time.monotonic(), own_seconds()
        last_ps, number = 0, 0
        while True:
            number += 1
            at = min(number * _SAMPLE_S, setup.seconds - _LAST_S)
            time.sleep(max(begin + at - time.monotonic(), 0.0))
            now_ps = round((time.monotonic() - begin) * 1e12)
            self._series += self._links.sample(now_ps, last_ps)
            self._processors.sample()
            with entered(self._network.namespaces[SENDER]):
                self._subflows = fuller(self._subflows, mptcp.subflows(iperf.PORT))
            last_ps = now_ps
            say("progress", time_s=now_ps / 1e12, **self._processors.last)
            if at >= setup.seconds - _LAST_S:
                break
        self._own_share = (own_seconds() - before) / (time.monotonic() - begin) / (os.cpu_count() or 1)
        self._shown = self._controller.ask("connections")


def fuller(kept: list[mptcp.Subflow], seen: list[mptcp.Subflow]) -> list[mptcp.Subflow]:
    """The later of two snapshots of the subflows, unless it lacks those that carried data."""
    return seen if _acknowledged(seen) >= _acknowledged(kept) else kept


def _acknowledged(subflows: list[mptcp.Subflow]) -> int:
    return sum(one.acknowledged_bytes for one in subflows)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os._exit(main(Path(sys.argv[1]), run))
