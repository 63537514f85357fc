"""A message of a critical path that took longer than alone, and the links at which its packets waited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .explanation import OWN_LINK, Cause, Explanation

_LOSSES = ("loss recovery", "timeout")
"""Causes that are due to the link that lost a packet."""


@dataclass(frozen=True)
class Communication:
    """A flow of a critical path that queued.

    Attributes:
        flow: Its number.
        src: The host that sends.
        dst: The host that receives.
        seconds: Its queueing on the path: the time that it took longer than alone.
        links: The time that its packets waited at each link, in seconds, longest first; empty if not followed.
        most_used: The most used link of its path, if that is known.
        is_followed: Whether its packets were followed.
    """

    flow: int
    src: str
    dst: str
    seconds: float
    links: dict[str, float]
    most_used: str | None
    is_followed: bool

    @property
    def elsewhere(self) -> float:
        """The rest of its queueing, which is due to no link."""
        return max(self.seconds - sum(self.links.values()), 0.0) if self.is_followed else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The message as plain data."""
        return {
            "flow": self.flow,
            "src": self.src,
            "dst": self.dst,
            "queueing_s": self.seconds,
            "followed": self.is_followed,
            "links": [{"link": link, "time_s": seconds} for link, seconds in self.links.items()],
            "most_used": self.most_used,
        }


def waits_at_links(explained: Explanation, rates: Mapping[str, float], queueing: float) -> dict[str, float]:
    """The time that a flow waited at links, in seconds, longest first, by `weft.explanation.Cause.place`.

    Queueing, losses and timeouts are those of their links. At the links of hosts, which `rates` has in bits per second,
    and under a rate limit, a flow spends the time that its bytes need even when it is alone: only the rest counts. The
    rest of the rate limit, and repetitions of packets that were only late, are due to the link of the network at which
    data packets waited longest. All together are at most `queueing`: a flow waits at a slow link while it would send
    alone.
    """
    found: dict[str, float] = {}
    own: dict[str, float] = {}
    held = late = 0.0
    for cause in explained.causes:
        if cause.name == "rate limit":
            held += cause.seconds
        elif cause.link and cause.link in rates and _is_own(cause):
            own[cause.link] = own.get(cause.link, 0.0) + cause.seconds
        elif cause.link and cause.name in (*_LOSSES, "queueing"):
            found[cause.place] = found.get(cause.place, 0.0) + cause.seconds
        elif cause.name in _LOSSES:
            late += cause.seconds
    at_source = sum(own.values()) + held
    rate = max((rate for link, rate in rates.items() if link.startswith(f"{explained.data['src']}->")), default=0.0)
    alone = explained.data["bytes"] * 8 / rate if rate else 0.0
    share = max(at_source - alone, 0.0) / at_source if at_source else 0.0
    culprit = next((one["link"] for one in explained.data["waits"] if one["link"] not in rates), None)
    rest = {link: seconds * share for link, seconds in own.items()}
    if culprit:
        rest[culprit] = held * share + late
    for link, seconds in rest.items():
        if seconds:
            found[link] = found.get(link, 0.0) + seconds
    part = min(1.0, queueing / total) if (total := sum(found.values())) else 1.0
    return {link: seconds * part for link, seconds in sorted(found.items(), key=lambda item: (-item[1], item[0]))}


def _is_own(cause: Cause) -> bool:
    """Whether packets of the source waited, where the link is a host's."""
    return cause.name == OWN_LINK or (cause.name == "queueing" and cause.direction != "back")
