"""Two controllers of one network, over TCP or TLS, and what switches and rules say about them; for use in a jail."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from certificates import Authority
from lab import FABRIC, PORT, Controller
from steady import rules

PORTS = (PORT, PORT + 1)


class Channel:
    """Switches and controllers connect over `tcp`, or over `ssl` with certificates of an authority of their own."""

    def __init__(self, scheme):
        """Issue certificates, if needed."""
        self._scheme, self._words = scheme, []
        if scheme == "ssl":
            self._authority = Authority(Path("/run"), "ours")
            key, certificate = self._authority.issue("controller")
            files = zip(("key", "cert", "ca"), (key, certificate, self._authority.certificate), strict=True)
            self._words = [word for name, path in files for word in (f"--tls-{name}", str(path))]

    def controller(self, *words, **more):
        """Start a controller."""
        return Controller("--fabric", str(FABRIC), *self._words, *words, **more)

    def connect(self, net):
        """Connect all switches to both controllers."""
        if self._scheme == "ssl":
            key, certificate = self._authority.issue("switches")
            net.switch._configure("set-ssl", *map(str, (key, certificate, self._authority.certificate)))
        for switch in net.dpids:
            net.switch._configure("set-controller", switch, *map(self.target, PORTS))

    def target(self, port):
        """Where switches reach the controller on this port."""
        return f"{self._scheme}:127.0.0.1:{port}"


def leads(controller, count=6):
    """Whether a controller leads so many switches."""
    return controller.show("status")["status"]["switches"] == count


def stands_by(controller):
    """Whether a controller leaves all six switches to another."""
    return [row["connection"] for row in controller.show("switches")["switches"]] == ["standby"] * 6


def masters(net):
    """How many switches have which master, as their database says, which is some seconds old."""
    said = net.switch._configure("--format=csv", "--no-headings", "--columns=role,target", "list", "controller")
    return dict(Counter(line.replace('"', "").removeprefix("master,") for line in said.split() if "master" in line))


def kept(net):
    """The rules of TCP flows, and all that do not expire, by switch and without cookies."""
    wanted = re.compile(r"priority=30000,tcp|^((?!idle_timeout).)*$")
    return {
        switch: sorted(re.sub("cookie=[^,]*,", "", rule) for rule in rules(net, switch) if wanted.search(rule))
        for switch in net.dpids
    }
