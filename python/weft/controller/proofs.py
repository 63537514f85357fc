"""Proof that switches have received what they were sent: their replies to later echo requests.

Other messages of a switch prove less: its requests to this controller may arrive although its TCP connection still
delivers nothing in the other direction. After an outage of a few seconds, TCP repeats lost segments at intervals that
have doubled each time (RFC 6298), in each direction at other times, so one may resume seconds before the other.
"""

import math
from dataclasses import dataclass


@dataclass
class _Proof:
    """Times in seconds: the connection is ready `since`; everything sent `until` then has been received."""

    since: float
    until: float = -math.inf


class Proofs:
    """What the connected switches have received, by datapath id."""

    def __init__(self) -> None:
        self._proofs: dict[int, _Proof] = {}

    def connected(self, now: float, dpid: int) -> None:
        """A connection is ready, perhaps in place of an earlier one: what that one carried is not known."""
        self._proofs[dpid] = _Proof(now)

    def disconnected(self, dpid: int) -> None:
        """A connection has ended."""
        self._proofs.pop(dpid, None)

    def replied(self, dpid: int, asked_at: float) -> None:
        """A switch has answered an echo request that was sent at this time."""
        if (proof := self._proofs.get(dpid)) is not None:
            proof.until = asked_at

    def cover(self, dpid: int, at: float) -> bool:
        """Whether a switch has received messages sent at this time, and its reports since then have arrived."""
        proof = self._proofs.get(dpid)
        return proof is not None and proof.since <= at <= proof.until
