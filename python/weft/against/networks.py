"""Networks of Ultra Ethernet as uet-htsim computes them: fabric, round trip, queue, thresholds, timeout, packets.

All links have 100 Gbps and 1 us; switches have no delay. Without `-topo`, uet-htsim builds a fat-tree of three tiers
for the number of hosts.
"""

from dataclasses import dataclass
from math import ceil

RATE_BPS, DELAY_PS = 100_000_000_000, 1_000_000
"""Rate and delay of every link."""
PACKET, PAYLOAD, HEADER, ANSWER = 4150, 4086, 18, 64
"""Bytes of a full packet on the wire, of its payload and its header after UDP, and of answers and cut packets.

uet-htsim's packets have 64 bytes of headers: here, 28 of IPv4 and UDP, `HEADER`, and 18 of the Ethernet frame.
"""
SACK_BYTES = 16_384 * PAYLOAD // (PAYLOAD + 64)
"""After how many bytes of payload a receiver answers. uet-htsim counts headers, too."""
BACK_PS = DELAY_PS + ANSWER * 8 * 10**12 // RATE_BPS
"""Time of an answer over an idle link."""
SLOW = 4
"""By how much rate, queue and thresholds of a link are divided that `-failed` selects."""


@dataclass(frozen=True)
class Network:
    """A fabric; `links` is the number of links on its longest path."""

    hosts: int
    links: int
    shape: str

    @property
    def rtt_ps(self) -> int:
        """Round trip of a full packet and an answer over the longest path of the idle fabric."""
        sent_ps = (PACKET + ANSWER) * 8 * 10**12 // RATE_BPS
        return self.links * (2 * DELAY_PS + sent_ps)

    @property
    def queue(self) -> int:
        """The queue of a port in packets, the one being sent included: one bandwidth-delay product."""
        return ceil(self.rtt_ps * RATE_BPS / (8 * 10**12 * PACKET))

    @property
    def thresholds(self) -> tuple[int, int]:
        """The queues in packets from which packets are marked, and all are."""
        return ceil(0.2 * self.queue), ceil(0.8 * self.queue)


def fat_tree(ports: int) -> Network:
    """A fat-tree of three tiers of switches with that many ports."""
    return Network(ports**3 // 4, 6, f'kind = "fat-tree"\nk = {ports}')


def leaf_spine(oversubscription: int) -> Network:
    """32 leaves with 32 hosts each, and one uplink for each `oversubscription` hosts."""
    spines = 32 // oversubscription
    return Network(1024, 4, f'kind = "spine-leaf"\nspines = {spines}\nleaves = 32\nhosts_per_leaf = 32')


def timeout_ps(queue: int) -> int:
    """uet-htsim's retransmission timeout: 15 us and the time of six full queues of that many packets."""
    return 15_000_000 + 6 * queue * PACKET * 8 * 10**12 // RATE_BPS


def ports(network: Network, queue: int) -> str:
    """The keys of `[fabric]` for its ports, with a queue of that many packets.

    uet-htsim's queue contains the packet being sent, Weft's does not. uet-htsim decides about a mark when a packet has
    been sent, by the packets behind it; Weft when its transmission starts, by these and the packet itself. At a busy
    port, one packet joins meanwhile: the thresholds are the same.
    """
    low, high = network.thresholds
    return f"""\
queue = "{(queue - 1) * PACKET} B"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
trim = true
trim_queue = "{2 * queue * PACKET} B"
red = {_marks(low * PACKET, high * PACKET)}"""


def slow_link(network: Network) -> str:
    """The `[[fabric.link]]` of `-failed 1`: the link from core switch 0 to aggregation switch 0.

    The queue and the thresholds apply to both directions, in uet-htsim to the slow one only.
    """
    low, high = (packets * PACKET // SLOW for packets in network.thresholds)
    return f"""
[[fabric.link]]
between = "a0-c0"
rate_back = "{RATE_BPS // SLOW // 10**9} Gbps"
queue = "{network.queue * PACKET // SLOW - PACKET} B"
red = {_marks(low, high)}
"""


def _marks(low: int, high: int) -> str:
    return f'{{ kmin = "{low} B", kmax = "{high} B", at = "dequeue" }}'
