"""Three switches in a ring, hosts at two of them, links that can fail, and a flow of numbered frames."""

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from benches.switch.lab import EXAMPLES, Lab, LabError, Space, end, run
from benches.switch.peers import Switch

SENDER = "02:00:00:00:01:01"
RECEIVER = "02:00:00:00:01:02"
"""Addresses that no kernel answers for: both ends of the flow are packet sockets."""
INTERVAL_US = 200


class Cable:
    """A link through a middle namespace: it can lose its carrier at both ends, or silently drop frames."""

    def __init__(self, lab: Lab, name: str, a: Switch, a_port: str, b: Switch, b_port: str) -> None:
        self.middle = lab.space(name)
        lab.cable(a.space, a_port, self.middle, "a")
        lab.cable(b.space, b_port, self.middle, "b")
        for side in ("a", "b"):
            run("tc", "-n", name, "qdisc", "add", "dev", side, "ingress")
        self.carry()

    def carry(self) -> None:
        """Forwards frames in both directions."""
        place = "filter add dev {} ingress protocol all prio 1 u32 match u32 0 0 action mirred egress redirect dev {}\n"
        run("tc", "-n", self.middle.name, "-batch", "-", text=place.format("a", "b") + place.format("b", "a"))

    def cut(self) -> None:
        """Both ends lose their carrier."""
        run("ip", "-n", self.middle.name, "-batch", "-", text="link set dev a down\nlink set dev b down\n")

    def swallow(self) -> None:
        """Drops frames in both directions; both carriers stay."""
        place = "filter delete dev {} ingress prio 1 protocol all\n"
        run("tc", "-n", self.middle.name, "-batch", "-", text=place.format("a") + place.format("b"))

    def mend(self, was_cut: bool) -> None:
        """Repairs the link."""
        if was_cut:
            run("ip", "-n", self.middle.name, "-batch", "-", text="link set dev a up\nlink set dev b up\n")
        else:
            self.carry()


@dataclass
class Ring:
    """s1, s2 and s3; hosts at s1 and s2."""

    switches: list[Switch]
    cables: dict[tuple[int, int], Cable]
    sender: Space
    receiver: Space


def build(lab: Lab, switches: list[Switch]) -> Ring:
    """Connects three switches in a ring and two hosts, and starts the switches."""
    cables = {}
    for a, b in ((1, 2), (2, 3), (1, 3)):
        first, second = switches[a - 1], switches[b - 1]
        cables[a, b] = Cable(lab, f"{first.name}{second.name}", first, f"p{b}", second, f"p{a}")
    hosts = [lab.host(f"{switch.name}h", number, switch.space, "p0") for number, switch in enumerate(switches[:2], 1)]
    for number, switch in enumerate(switches, 1):
        switch.start((["p0"] if number < 3 else []) + [f"p{other}" for other in (1, 2, 3) if other != number])
    return Ring(switches, cables, *hosts)


class Stream:
    """A flow of numbered frames from the sender of a ring to its receiver, for `seconds`."""

    def __init__(self, ring: Ring, port: int, seconds: float) -> None:
        self.port = port
        self.seconds = seconds
        common = ["--port", str(port), "--interval", str(INTERVAL_US)]
        ends = ["--here", RECEIVER, "--there", SENDER]
        self.receiver = self.launch(ring.receiver, "receive", [*ends, *common], 1)
        self.expect(self.receiver, "ready")
        ends = ["--here", SENDER, "--there", RECEIVER]
        self.sender = self.launch(ring.sender, "send", [*ends, *common, "--seconds", f"{seconds:g}"], 0)
        self.expect(self.sender, "open")

    @staticmethod
    def launch(host: Space, role: str, arguments: list[str], cpu: int) -> subprocess.Popen[str]:
        """Starts the sender or the receiver."""
        command = [str(EXAMPLES / "stream"), role, "eth0", *arguments]
        return host.start(*command, cpu=cpu, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @staticmethod
    def expect(process: subprocess.Popen[str], word: str) -> None:
        """Waits for the line that an end prints when it is ready."""
        line = process.stdout.readline().strip() if process.stdout else ""
        if line != word:
            raise LabError(f"stream: {process.communicate()[1].strip() or 'ended early'}")

    def result(self) -> dict[str, Any]:
        """Received and lost frames, from the receiver's report."""
        sent, trouble = self.sender.communicate(timeout=self.seconds + 30)
        try:
            received, error = self.receiver.communicate(timeout=5)
        except subprocess.TimeoutExpired as late:
            end([self.receiver])
            raise LabError("the flow's last frame never arrived") from late
        if not received:
            raise LabError(f"stream: {error.strip()}")
        if not sent:
            raise LabError(f"stream: {trouble.strip()}")
        result: dict[str, Any] = json.loads(received)
        result["longest_pause_ms"] = json.loads(sent)["longest_pause_ns"] / 1e6
        return result
