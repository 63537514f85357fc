"""TCP small queues count what waits at the host, not what waits in the fabric behind a switch of ours."""

from __future__ import annotations

import pytest

from jails import in_jail

NETWORK = """
from pathlib import Path
from waiting import until
from weft.emulation.namespace import entered
from weft.emulation.requirements import program
from weft.emulation.stack import offloads

for number in (1, 2):
    sh(f"ip netns add h{number}")
    sh(f"ip link add p{number} type veth peer name eth0 netns h{number}")
    sh(f"ip -n h{number} link set eth0 address 02:00:00:00:00:0{number} up")
    sh(f"ip -n h{number} addr add 10.0.0.{number}/24 dev eth0")
    with entered(f"/run/netns/h{number}"):
        offloads("eth0")
    assert '"gso_max_segs":1,' in sh(f"ip -n h{number} -d -j link show eth0")
    sh(f"ip link set p{number} mtu 1520 up")
# The bottleneck is the switch's port to the receiver.
sh("tc qdisc add dev p2 root tbf rate 2mbit burst 2000 limit 200000")
route = "".join(f'[[route]]\\nstation = "02:00:00:00:00:0{n}"\\nports = ["p{n}"]\\n' for n in (1, 2))
routed = route if MODE == "ecmp" else ""
Path("/run/s1.toml").write_text(f'name = "s1"\\nmode = "{MODE}"\\nports = ["p1", "p2"]\\n' + routed)
words = [program("weft-switchd"), "--config", "/run/s1.toml", "--run-dir", "/run/s1", "--pin-dir", "/sys/fs/bpf/s1"]
switch = subprocess.Popen([*words, "--state-dir", "/run/s1"], stderr=Path("/run/log").open("wb"))
until("the switch forwards", lambda: switch.poll() is not None or Path("/run/s1/s1.sock").exists())
assert switch.poll() is None, Path("/run/log").read_text()
"""
SENDER = """
import json, select, socket, struct, time

SO_MEMINFO, QUEUED_TO_SEND = 55, 2
to = socket.create_connection(("10.0.0.2", 5001))
to.setblocking(False)
most, end = (0, 0), time.monotonic() + 3
while time.monotonic() < end:
    if select.select([], [to], [], 0.01)[1]:
        to.send(bytes(100_000))
    in_flight = struct.unpack_from("I", to.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 24)[0]
    counted = struct.unpack_from("I", to.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36), 4 * QUEUED_TO_SEND)[0]
    most = max(most, (in_flight, counted))
print(json.dumps(most))
"""
SENDING = """
sink = "import socket; server = socket.create_server(('10.0.0.2', 5001)); print('listening', flush=True)"
sink += "; one = server.accept()[0]\\nwhile one.recv(1 << 20): pass"
receiver = subprocess.Popen(["ip", "netns", "exec", "h2", sys.executable, "-c", sink], stdout=subprocess.PIPE)
assert receiver.stdout.readline() == b"listening\\n"
sender = ["ip", "netns", "exec", "h1", sys.executable, "-c", SENDER]
tell(json.loads(subprocess.check_output(sender)))
receiver.kill()
switch.terminate()
"""


# One mode with routes, and one that explores.
@pytest.mark.parametrize("mode", ["ecmp", "tcp-path"])
def test_a_switch_lets_go_of_the_senders_socket(switches, mode):
    in_flight, counted_bytes = in_jail(f"MODE, SENDER = {mode!r}, {SENDER!r}\n", NETWORK, SENDING)
    assert in_flight > 40
    # A full frame counts about 2300 bytes; with its socket, each one in flight would.
    assert counted_bytes < in_flight * 2300 / 4
