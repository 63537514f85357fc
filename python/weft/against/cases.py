"""The compared workloads: a connection matrix, the command line of htsim, and a scenario with equal parameters.

`docs/speed.md` gives the reasons for the values. Both simulate fat-trees with links of 100 Gbps and 1 us.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import matrix
from .matrix import Matrix
from .networks import HEADER, PAYLOAD, SACK_BYTES, fat_tree, ports, timeout_ps

MATRIX = "flows.cm"
"""The file of the matrix, in the directory in which both programs run."""

_FABRIC = """\
[fabric]
kind = "fat-tree"
k = {k}
rate = "100 Gbps"
delay = "1 us"
"""

_TRAFFIC = f"""
[traffic]
trace = "{MATRIX}"

[scheme]
name = "ecmp"

[run]
duration = "{{end}} us"
seeds = [{{seed}}]

[measure]
interval = "{{end}} us"
"""

# Of fat-trees of any size: the longest paths have as many links.
_TREE = fat_tree(16)

_UEC_PORTS = f"""\
overhead = "ethernet-frame"
{ports(_TREE, _TREE.queue)}
"""

_UEC_HOSTS = f"""
[transport]
protocol = "uec"
mtu = {PAYLOAD}
header = {HEADER}
ack_bytes = "{SACK_BYTES} B"
answer_requests = false
base_rtt = "{_TREE.rtt_ps} ps"
entropies = 128
entropy_choice = "oblivious"
rto = "{timeout_ps(_TREE.queue)} ps"
"""

# Full packets have 4044 bytes (htsim: 4064), answers 48 (htsim: 64). Thresholds of 15 and 12 times 4000 bytes.
_ROCE_PORTS = """\
overhead = "none"
queue = "1 GB"
pfc = { xoff = "60 kB", xon = "48 kB" }
"""

_ROCE_HOSTS = """
[transport]
protocol = "roce"
mtu = 4000
retransmission_timeout = "1 s"
"""

_DCQCN_PORTS = 'red = { kmin = "39999 B", kmax = "40 kB", at = "dequeue" }\n'

_DCQCN_HOSTS = """\
congestion_control = "dcqcn"
cnp_interval = "50 us"
cnp_on_out_of_order = false
alpha_interval = "55 us"
decrease_interval = "100 ns"
increase_interval = "55 us"
fast_recovery_times = 5
additive_increase = "5 Gbps"
hyper_increase = "10 Gbps"
"""

_NO_DCQCN_HOSTS = 'congestion_control = "off"\n'

_UEC_ARGUMENTS = ("-sender_cc_only", "-load_balancing_algo", "oblivious", "-paths", "128")
_ROCE_ARGUMENTS = ("-strat", "ecmp_host", "-paths", "128", "-pfc_thresholds", "12", "15", "-q", "10000")


@dataclass(frozen=True)
class Case:
    """A workload of both simulators."""

    name: str
    summary: str
    program: str
    """The name of htsim's program."""
    matrix: Callable[[], Matrix]
    arguments: tuple[str, ...]
    """htsim's arguments besides those for the matrix and the end."""
    k: int
    """Ports of a switch of the fat-tree."""
    end_us: int
    """When the simulation ends at the latest, in microseconds: htsim's timers of finished flows may run until then."""
    ports: str
    """Keys of Weft's `[fabric]` for ports."""
    hosts: str
    """Weft's `[transport]`."""

    def scenario(self, seed: int) -> str:
        """Weft's scenario."""
        return _FABRIC.format(k=self.k) + self.ports + _TRAFFIC.format(end=self.end_us, seed=seed) + self.hosts

    def command(self, program: Path, hosts: int, seed: int) -> list[str]:
        """The command line of htsim for a matrix of `hosts` hosts."""
        varying = {"-nodes": hosts, "-tm": MATRIX, "-end": self.end_us, "-seed": seed}
        return [str(program), *(str(word) for pair in varying.items() for word in pair), *self.arguments]


def _uec(name: str, summary: str, k: int, end_us: int, made: Callable[[], Matrix]) -> Case:
    return Case(name, summary, "htsim_uec", made, _UEC_ARGUMENTS, k, end_us, _UEC_PORTS, _UEC_HOSTS)


CASES = {
    case.name: case
    for case in (
        _uec(
            "uec-permutation-1024",
            "UEC, permutation of 1024 hosts, 2 MB each",
            16,
            1_000,
            partial(matrix.permutation, 1024, 2_000_000),
        ),
        _uec(
            "uec-permutation-8192",
            "UEC, permutation of 8192 hosts, 2 MB each",
            32,
            1_000,
            partial(matrix.permutation, 8192, 2_000_000),
        ),
        _uec(
            "uec-incast-1024", "UEC, incast 1024 to 1, 100 kB each", 16, 20_000, partial(matrix.incast, 1024, 100_000)
        ),
        _uec(
            "uec-all-to-all-128",
            "UEC, all-to-all of 128 hosts, 100 kB each",
            8,
            20_000,
            partial(matrix.all_to_all, 128, 100_000),
        ),
        _uec(
            "uec-ring-128",
            "UEC, ring all-reduce of 128 hosts, 64 MB",
            8,
            100_000,
            partial(matrix.ring_all_reduce, 128, 500_000),
        ),
        Case(
            "roce-incast-1024",
            "RoCE with PFC, incast 1024 to 1, 400 kB each",
            "htsim_roce",
            partial(matrix.incast, 1024, 400_000),
            _ROCE_ARGUMENTS,
            16,
            35_000,
            _ROCE_PORTS,
            _ROCE_HOSTS + _NO_DCQCN_HOSTS,
        ),
        Case(
            "roce-dcqcn-1024",
            "RoCE with PFC and DCQCN, 128 racks, 7 to 1, 240 kB each",
            "htsim_roce",
            partial(matrix.rack_incasts, 1024, 8, 240_000),
            (*_ROCE_ARGUMENTS, "-dcqcn", "10"),
            16,
            145,
            _ROCE_PORTS + _DCQCN_PORTS,
            _ROCE_HOSTS + _DCQCN_HOSTS,
        ),
    )
}
"""The cases by name, in the order in which they run."""
