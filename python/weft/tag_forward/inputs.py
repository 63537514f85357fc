"""User input: a fabric, optional gates and host addresses."""

import ipaddress
import json
from collections.abc import Sequence
from pathlib import Path

from .._weft import GatePlan, ScenarioError
from ..topology import scenario_text
from ..user_files import read_text
from .errors import TagForwardError

_FIRST = ipaddress.IPv4Address("10.0.0.1")
"""The default address of the first host, as in emulations and simulations."""


def plan(path: Path, width: str, sets: Sequence[str] = (), gates: Path | None = None) -> GatePlan:
    """The gates of a scenario's fabric, changed by `sets`, or of a fabric file; tags are ``narrow`` or ``wide``.

    The file `gates` has gates to use instead of the computed ones: a JSON list of switches, or an object with such a
    list as ``switches``. Raises `TagForwardError` if the fabric is not a fat-tree, the tag is too narrow, or the given
    gates violate a property, and `ScenarioError` if a file cannot be read.
    """
    try:
        if (text := scenario_text(path, sets)) is not None:
            computed = GatePlan.of_scenario(text, path.name, str(path.parent), list(sets), width)
        else:
            computed = GatePlan.of_file(str(path), read_text(path), width)
        return computed if gates is None else computed.given(_switches(gates))
    except ScenarioError:
        raise
    except ValueError as wrong:
        raise TagForwardError(f"{gates or path}: {wrong}") from None


def _switches(path: Path) -> str:
    try:
        given = json.loads(read_text(path))
    except ValueError as wrong:
        raise TagForwardError(f"{path}: not JSON: {wrong}") from None
    return json.dumps(given.get("switches", given) if isinstance(given, dict) else given)


def addresses(hosts: Sequence[str], path: Path | None) -> dict[str, list[str]]:
    """The addresses of hosts: from a file, or from 10.0.0.1 on in the fabric's order.

    The file is like ``/etc/hosts`` (hosts(5)): an IPv4 or IPv6 address per line, then names. A host may have several
    addresses; other names are ignored. Raises `TagForwardError` if a host has no address, two have the same one, or a
    line does not start with an address.
    """
    if path is None:
        return {host: [str(_FIRST + number)] for number, host in enumerate(hosts)}
    found: dict[str, list[str]] = {host: [] for host in hosts}
    owners: dict[str, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            address = str(ipaddress.ip_address(words[0]))
        except ValueError:
            raise TagForwardError(f"{path}:{number}: `{words[0]}` is not a valid IP address") from None
        for name in words[1:]:
            if name not in found:
                continue
            owner = owners.setdefault(address, name)
            if owner != name:
                raise TagForwardError(f"{path}:{number}: {address} is assigned to both {owner} and {name}")
            if address not in found[name]:
                found[name].append(address)
    without = [host for host, given in found.items() if not given]
    if without:
        named = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
        raise TagForwardError(f"{path} has no address for {named}", f"a line for each: `10.0.0.7 {without[0]}`")
    return found
