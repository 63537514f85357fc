"""The three-server ring of docs/deploy.md, for use in a jail: namespaces as servers, veth links, the page's file.

`seen` counts the answered pings of each kind, and tells the port states before and after the daemons stop.
"""

import json
import re
import subprocess
from pathlib import Path

from jails import sh
from waiting import PATIENCE_S, until

PAGE = Path(__file__).parents[3] / "docs" / "deploy.md"
SERVERS = ("a", "b", "c")
CABLES = {("a", "eth2"): ("b", "eth1"), ("b", "eth2"): ("c", "eth1"), ("c", "eth2"): ("a", "eth1")}


def configuration():
    """The configuration file of the page's ring."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return next(block for block in blocks if 'name = "ring"' in block)


def build():
    Path("/run/netns").mkdir()
    folder = Path("/run/etc")
    folder.mkdir()
    (folder / "ring.toml").write_text(configuration(), encoding="utf-8")
    (folder / "hello.key").write_text("00112233445566778899aabbccddeeff\n", encoding="utf-8")
    for number, server in enumerate(SERVERS):
        sh(f"ip netns add {server}")
        sh(f"ip -n {server} link add host0 type veth peer name weft0")
        sh(f"ip -n {server} addr add 10.77.0.{number + 1}/24 dev host0")
    for (one, left), (other, right) in CABLES.items():
        sh(f"ip -n {one} link add {left} type veth peer name {right} netns {other}")
    for server in SERVERS:
        for port in ("eth1", "eth2", "weft0"):
            sh(f"ip -n {server} link set {port} mtu 1520 up")
        sh(f"ip -n {server} link set host0 up")


def start(server):
    return subprocess.Popen(
        [
            *("nsenter", f"--net=/run/netns/{server}", "weft-switchd", "--config", "/run/etc/ring.toml"),
            *("--run-dir", f"/run/weft-{server}", "--pin-dir", f"/sys/fs/bpf/{server}"),
        ],
        stderr=Path(f"/run/{server}.log").open("wb"),
    )


def ask(server, words):
    command = f"nsenter --net=/run/netns/{server} weftctl --name ring --run-dir /run/weft-{server} --json {words}"
    return json.loads(sh(command, check=False) or "null")


def roles(server):
    return {port["interface"]: port["role"] for port in ask(server, "show ports") or []}


def settle():
    """Wait until every port has its role."""
    wanted = {"eth1": "fabric", "eth2": "fabric", "weft0": "host"}
    found = lambda: {server: roles(server) for server in SERVERS}  # noqa: E731
    until("the roles of all ports", lambda: found() == dict.fromkeys(SERVERS, wanted), state=found)


def pings(source, address, count=10):
    said = sh(f"nsenter --net=/run/netns/{source} ping -n -i 0.1 -w {PATIENCE_S:g} -c {count} {address}", check=False)
    return int(re.search(r"(\d+) received", said).group(1))


def seen():
    build()
    daemons = [start(server) for server in SERVERS]
    settle()
    found = {"whole": pings("a", "10.77.0.2")}
    sh("ip -n a link set eth2 down")
    found["cut"] = pings("a", "10.77.0.2")
    found["down"] = roles("a").get("eth2")
    for server in SERVERS:
        ask(server, "down")
    found["ended"] = [daemon.wait(PATIENCE_S) for daemon in daemons]
    found["left"] = [path.name for server in SERVERS for path in Path(f"/sys/fs/bpf/{server}").glob("*/*/*")]
    for server in SERVERS:
        sh(f"ip -n {server} link add br0 type bridge stp_state 1")
        for port in ("eth1", "eth2", "weft0"):
            sh(f"ip -n {server} link set {port} master br0")
    found["bridged"] = True
    return found
