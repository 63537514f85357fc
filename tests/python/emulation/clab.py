"""Runs a containerlab topology in network namespaces: the nodes' start commands and their `exec`, without containers.

To be started in mount, network and process namespaces of its own (`test_container.py`). Prints a line of JSON for each
ping between hosts, and the health of each switch.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

sys.path.append(str(Path(__file__).parents[1]))

from waiting import PATIENCE_S, until


def run(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=PATIENCE_S)


def instruction(dockerfile: str, name: str) -> list[str]:
    """The words of an instruction in the exec form."""
    found = re.search(rf"^{name} .*?(\[.*\])$", dockerfile, re.M)
    if found is None:
        raise ValueError(f"the Dockerfile has no {name} in the exec form")
    words: list[str] = json.loads(found[1])
    return words


class Node:
    """A node: a network namespace, and for a switch the file systems of its container."""

    def __init__(self, name: str, keys: dict[str, Any], folder: Path) -> None:
        self.name, self.keys, self.folder = name, keys, folder
        self.process: subprocess.Popen[str] | None = None
        run("ip", "netns", "add", name)
        self.inside("ip", "link", "set", "dev", "lo", "up")

    def inside(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command as `docker exec` would."""
        around = ["ip", "netns", "exec", self.name]
        if self.process is not None:
            around = ["nsenter", "--mount", "--net", "--target", str(self.process.pid)]
        return run(*around, *command, check=check)

    def start(self, dockerfile: str) -> None:
        """Start the entry point of the image, with the files that the topology binds."""
        if "entrypoint" in self.keys:
            return
        copied = dict(re.findall(r"^COPY (\S+\.sh) (\S+)$", dockerfile, re.M))
        entry, *rest = instruction(dockerfile, "ENTRYPOINT") + instruction(dockerfile, "CMD")
        program = next(self.folder / source for source, target in copied.items() if target == entry)
        made = ["mount -t tmpfs tmpfs /run/weft", "mount -t tmpfs tmpfs /etc/weft", "umount /sys/fs/bpf || true"]
        for bind in self.keys.get("binds", []):
            source, target, *_ = bind.split(":")
            made.append(f"cp {shlex.quote(str(self.folder / source))} {shlex.quote(target)}")
        script = "; ".join(["set -e", *made, shlex.join(["exec", str(program), *rest])])
        words = ["ip", "netns", "exec", self.name, "unshare", "--mount", "sh", "-c", script]
        log = Path("/run") / f"{self.name}.log"
        with log.open("w") as file:
            self.process = subprocess.Popen(words, stdout=file, stderr=file, text=True)


def main() -> None:
    topology_file = Path(sys.argv[1])
    lab = yaml.safe_load(topology_file.read_text())["topology"]
    dockerfile = (topology_file.parent / "Dockerfile").read_text()
    # /run is a file system of this process's own; /etc becomes one.
    for folder in ("/run/weft", "/run/etc/weft", "/run/work"):
        Path(folder).mkdir(parents=True)
    run("mount", "-t", "overlay", "overlay", "-o", "lowerdir=/etc,upperdir=/run/etc,workdir=/run/work", "/etc")
    nodes = {name: Node(name, keys, topology_file.parent) for name, keys in lab["nodes"].items()}
    # As containerlab: containers first, then links, then commands.
    for node in nodes.values():
        node.start(dockerfile)
    for link in lab["links"]:
        (one, port), (other, far) = (end.split(":") for end in link["endpoints"])
        run("ip", "link", "add", "name", port, "netns", one, "type", "veth", "peer", "name", far, "netns", other)
        for node, interface in ((one, port), (other, far)):
            run("ip", "netns", "exec", node, "ip", "link", "set", "dev", interface, "up")
    hosts = {}
    for node in nodes.values():
        for command in node.keys.get("exec", []):
            node.inside(*shlex.split(command))
            if found := re.search(r"address add (\S+)/", command):
                hosts[node.name] = found[1]
    for name in hosts:
        for other, address in hosts.items():
            ping = ("ip", "netns", "exec", name, "ping", "-c", "1", "-W", "1", address)
            if name != other:
                until(f"{name} reaches {other}", lambda ping=ping: run(*ping, check=False).returncode == 0)
            print(json.dumps({"from": name, "to": other, "reached": True}))
    health = re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", dockerfile, re.M)
    for node in nodes.values():
        if node.process is not None:
            done = node.inside(*json.loads(health[1]), check=False) if health else None
            log = Path("/run", f"{node.name}.log").read_text()
            print(json.dumps({"switch": node.name, "healthy": done is not None and not done.returncode, "log": log}))
            node.process.terminate()
    for node in nodes.values():
        if node.process is not None:
            node.process.wait(timeout=PATIENCE_S)


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
    main()
