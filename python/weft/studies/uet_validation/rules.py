"""Why a row does not hold: the rule that decides it."""

DECIDING: dict[str, str] = {
    "U5": "the least window of 1023 senders is a packet each, the queue holds 43, and headers of cut packets share the "
    "receiver's link",
    "U6": "each cut packet takes a packet from the long flow's window; after the short flows, the receiver's link is "
    "idle for 4 us until the window has grown to a bandwidth-delay product again",
    "U9": "four flows of 2 MB share 325 Gbps into the pod of the slow link: 200 us, and a round trip of 14 us",
    "B2": "oblivious senders do not avoid marked paths, and in queues of 500 packets those packets wait that shorter "
    "queues cut, to be sent again over other paths",
}
"""Rows that do not hold: what decides them."""
