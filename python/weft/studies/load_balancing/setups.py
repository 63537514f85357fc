"""A scenario of the study as data, its text, and the schemes that run in it.

The schemes are those of the registry at run time. The checker of scenarios decides which of them run on a fabric; the
others are left out, with its reason.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..._weft import ScenarioError
from ...catalogue import schemes
from ...scenario import Scenario

MULTIPATH = "multipath-host"
"""The requirement of a scheme whose hosts must speak Multipath TCP."""


@cache
def registry() -> dict[str, dict[str, Any]]:
    """The schemes of this version of Weft by name, in the order of `weft schemes`."""
    return {entry["name"]: entry for entry in schemes()}


def needs(scheme: str) -> tuple[str, ...]:
    """The scheme's requirements beyond existing networks: ``new-switch``, ``controller``, ..."""
    return tuple(registry().get(scheme, {}).get("needs", ()))


@dataclass(frozen=True)
class Setup:
    """One scenario: everything but the seeds is its physics."""

    name: str
    """The name of the part and of its directory."""
    fabric: str
    """The lines of `[fabric]`, and its `[[fabric.link]]`."""
    traffic: str
    """The lines of `[traffic]`."""
    schemes: tuple[str, ...]
    """Names, each with changed parameters after it, as results label them: ``letflow gap=100 us``."""
    profile: str
    seconds: float
    """Time in which flows start."""
    seeds: int
    events: str = ""
    transport: str = ""
    """Further lines of `[transport]`."""
    limit: float = 2.0
    window: tuple[float, float] | None = None
    warm: bool = True
    loads: tuple[float, ...] = ()
    """Offered loads to sweep; empty if the traffic has none."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.schemes) * max(len(self.loads), 1) * self.seeds

    def scenario(self) -> Scenario:
        """Its scenario."""
        return Scenario.from_text(text(self), f"{self.name}.toml")


SMALL, LARGE = "100 kB", "1 MB"
"""Flows below the first are small, above the second large."""


def text(setup: Setup) -> str:
    """The scenario of a setup as TOML."""
    first, last = setup.window or (0.0, setup.seconds)
    axes = [f"scheme = [{', '.join(map(_table, setup.schemes))}]"]
    axes += [f'"traffic.load" = {json.dumps(setup.loads)}'] if setup.loads else []
    return f"""\
name = "load balancing, {setup.name}"

[fabric]
{setup.fabric}

[traffic]
{setup.traffic}
{f"load = {setup.loads[0]}" if setup.loads else ""}

[scheme]
name = "{setup.schemes[0].partition(" ")[0]}"

[transport]
profile = "{setup.profile}"
{setup.transport}

[run]
duration = "{1e3 * setup.seconds:g} ms"
limit = "{1e3 * setup.limit:g} ms"
seeds = {setup.seeds}
warm = {json.dumps(setup.warm)}

[measure]
window = ["{1e3 * first:g} ms", "{1e3 * last:g} ms"]
interval = "{1e3 * setup.seconds / 20:g} ms"
classes = {{ mouse = "{SMALL}", elephant = "{LARGE}" }}
baseline = "{setup.schemes[0].partition(" ")[0]}"

{setup.events}

[sweep]
{chr(10).join(axes)}
"""


def _table(scheme: str) -> str:
    name, _, parameter = scheme.partition(" ")
    key, _, value = parameter.partition("=")
    return f"{{ name = {json.dumps(name)}{f', {key} = {json.dumps(value)}' if key else ''} }}"


_SHORT_S = 0.001
"""Time in which flows start where only the schemes of a setup are checked."""


def able(setup: Setup) -> tuple[Setup | None, dict[str, str]]:
    """The setup with the schemes that run in it, None if none does; and by scheme, why it does not."""
    # A check draws the flows; refusals do not depend on their number.
    short = replace(setup, seeds=1, loads=setup.loads[:1], seconds=min(setup.seconds, _SHORT_S), window=None)
    reasons = {scheme: _refusal(text(replace(short, schemes=(scheme,)))) for scheme in setup.schemes}
    kept = tuple(scheme for scheme, reason in reasons.items() if not reason)
    return (replace(setup, schemes=kept) if kept else None), {k: reason for k, reason in reasons.items() if reason}


@cache
def _refusal(scenario: str) -> str:
    """Why the engine refuses a scenario, as one line; empty if it accepts it."""
    try:
        Scenario.from_text(scenario).check()
    except ScenarioError as error:
        return str(error).partition("\n")[0].removeprefix("error: ")
    return ""


def known(schemes: Sequence[str]) -> tuple[str, ...]:
    """The given schemes that this version of Weft has."""
    return tuple(scheme for scheme in schemes if scheme.partition(" ")[0] in registry())
