"""The text of `frr.conf` for one switch, and of the files that are the same for all."""

from collections.abc import Iterator

from .routers import GATEWAY, Port, Router

BFD_INTERVAL_MS = 300
"""Time between two BFD packets."""
BFD_MULTIPLIER = 3
"""Missing BFD packets after which a neighbour is considered down."""

DAEMONS = """\
# The daemons that FRR starts; zebra and staticd always run.
bgpd=yes
bfdd=yes
vtysh_enable=yes
zebra_options="-A 127.0.0.1 -s 90000000"
bgpd_options="-A 127.0.0.1"
bfdd_options="-A 127.0.0.1"
staticd_options="-A 127.0.0.1"
"""

SYSCTL = """\
# Forward packets.
net.ipv4.ip_forward = 1
net.ipv6.conf.all.forwarding = 1
# Spread flows over next hops by addresses and ports, not by addresses alone.
net.ipv4.fib_multipath_hash_policy = 1
# Leave a next hop out as soon as its link has no carrier.
net.ipv4.conf.all.ignore_routes_with_linkdown = 1
# The way back of a flow may be another one.
net.ipv4.conf.all.rp_filter = 0
net.ipv4.conf.default.rp_filter = 0
"""


def frr_conf(router: Router, title: str) -> str:
    """The configuration of a switch; `title` names its origin in the first line."""
    return "\n".join(_lines(router, title)) + "\n"


def _lines(router: Router, title: str) -> Iterator[str]:
    uplinks = [port for port in router.ports if port.host is None]
    yield f"! {title}"
    yield from ("frr version 8.4", "frr defaults datacenter", f"hostname {router.name}")
    yield from ("service integrated-vtysh-config", "!")
    # The kernel takes a link that loses its carrier out of its next-hop objects, and zebra 8.4 does not put it back
    # (FRR's issue 15505). Routes with next hops of their own are written again.
    yield "! Next hops in routes: zebra 8.4 does not restore kernel next-hop groups when a link returns."
    yield from ("no zebra nexthop kernel enable", "!")
    yield from ("interface lo", f" ip address {router.loopback}/32", "exit", "!")
    for port in router.ports:
        yield from _interface(port)
    yield from ("bfd", " profile fabric", f"  detect-multiplier {BFD_MULTIPLIER}")
    yield from (f"  receive-interval {BFD_INTERVAL_MS}", f"  transmit-interval {BFD_INTERVAL_MS}", " exit", "exit", "!")
    own = [router.loopback, *(port.host.address for port in router.ports if port.host)]
    yield from _prefixes("own", own)
    yield from ("route-map own permit 10", " match ip address prefix-list own", "exit", "!")
    if router.weighted:
        for port in uplinks:
            yield from _weights(port)
    yield f"router bgp {router.system}"
    yield f" bgp router-id {router.loopback}"
    yield " bgp bestpath as-path multipath-relax"
    for port in uplinks:
        yield f" neighbor {port.interface} interface remote-as external"
        yield f" neighbor {port.interface} bfd profile fabric"
    yield " address-family ipv4 unicast"
    yield "  redistribute connected route-map own"
    if router.weighted:
        for port in uplinks:
            yield f"  neighbor {port.interface} route-map weights-{port.interface} out"
    yield f"  maximum-paths {router.paths}"
    yield from (" exit-address-family", "exit", "!")


def _interface(port: Port) -> Iterator[str]:
    yield f"interface {port.interface}"
    yield f" description to {port.neighbour_interface}"
    if port.host:
        yield f" ip address {GATEWAY} peer {port.host.address}/32"
    if not port.up:
        yield " shutdown"
    yield from ("exit", "!")


def _weights(port: Port) -> Iterator[str]:
    """Announces to a neighbour how often it should use this link: only ratios between its links matter."""
    number = 10
    for weight, addresses in sorted(port.weights.items()):
        if weight != port.usual_weight:
            name = f"weight-{weight}-{port.interface}"
            yield from _prefixes(name, addresses)
            yield from _weight(port, number, weight, f" match ip address prefix-list {name}")
            number += 10
    yield from _weight(port, number, port.usual_weight)


def _weight(port: Port, number: int, weight: int, *matches: str) -> Iterator[str]:
    yield f"route-map weights-{port.interface} permit {number}"
    yield from matches
    yield from (f" set extcommunity bandwidth {weight}", "exit", "!")


def _prefixes(name: str, addresses: list[str] | tuple[str, ...]) -> Iterator[str]:
    for place, address in enumerate(addresses, start=1):
        yield f"ip prefix-list {name} seq {5 * place} permit {address}/32"
    yield "!"
