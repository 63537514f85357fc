"""The README of an export: how to use the files."""

from collections.abc import Sequence

from ..emulation.plan import Plan
from .configuration import BFD_INTERVAL_MS, BFD_MULTIPLIER
from .routers import GATEWAY, Router, interface_of


def readme(plan: Plan, routers: Sequence[Router], origin: str) -> str:
    """The text for a directory with these switches; `origin` names the scenario."""
    first = routers[0].name
    host = plan.hosts[0]
    devices = [interface_of(end) for end in plan.ports(host.name)]
    weights = _WEIGHTS if any(router.weighted for router in routers) else ""
    return f"""\
# FRR configurations

From {origin}.

* `{first}/frr.conf`, `{first}/daemons`: the configuration of switch `{first}`; each switch has such a directory
* `interfaces.csv`: every port with its interface, its neighbour, and the address of the host on the link
* `sysctl.conf`: kernel settings, the same for all switches

## On each switch

Needs FRR 8.4 or newer (`apt-get install frr`) and Linux 5.2 or newer. The interfaces must have the names in
`interfaces.csv`: rename them, or replace the names in `frr.conf`.

```sh
install -m 644 sysctl.conf /etc/sysctl.d/90-weft-frr.conf
sysctl --load /etc/sysctl.d/90-weft-frr.conf
install -o frr -g frr -m 640 {first}/frr.conf {first}/daemons /etc/frr/
systemctl restart frr
vtysh -c 'show bgp ipv4 unicast summary' -c 'show bfd peers brief' -c 'show ip route'
```

## On each host

`{GATEWAY}` is the gateway of every host. With the address of `{host.name}`:

```sh
{_host_commands(host.address, devices)}
```

## How it works

* Switches use BGP over the links' IPv6 link-local addresses (BGP unnumbered). Each announces its loopback and the /32
  addresses of its hosts. Equal-cost routes are used together (ECMP).
* A switch next to hosts has an autonomous system of its own, the switches of one tier and pod share one (RFC 7938).
* BFD sends a packet every {BFD_INTERVAL_MS} ms and considers a link down after {BFD_MULTIPLIER} missing ones: see
  `profile fabric` in `frr.conf`. A link that loses its carrier is left at once.
* Links that are down when the scenario starts are `shutdown`. Events of the scenario are not part of the configuration.
{weights}\
"""


def _host_commands(address: str, devices: Sequence[str]) -> str:
    lines = [f"ip address add {address}/32 dev {device}" for device in devices]
    lines += [f"ip route append {GATEWAY}/32 dev {device}" for device in devices]
    hops = [f"via {GATEWAY} dev {device}" for device in devices]
    ways = hops[0] if len(hops) == 1 else " ".join(f"nexthop {hop}" for hop in hops)
    return "\n".join([*lines, f"ip route add default src {address} {ways}"])


_WEIGHTS = """\
* The weights of `wcmp` are link-bandwidth communities: a switch announces to each neighbour how often it should use the
  link. Only ratios matter, and FRR rounds each next hop's share down to whole percent. They are those of the fabric as
  described: a route that is withdrawn drops out, but a failure behind a neighbour that keeps its route does not change
  its weight.
"""
