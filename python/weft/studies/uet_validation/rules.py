"""Why a row has no verdict or does not hold: the rule that decides it."""

NOT_EXPRESSED: dict[str, str] = {
    "U6": "the list starts windows at 50 packets (`-cwnd 50`), Weft at 1.5 bandwidth-delay products",
}
"""Rows without a verdict: the part of their set-up that Weft cannot express."""

DECIDING: dict[str, str] = {
    "U5": "the least window of 1023 senders is a packet each, the queue holds 43, and headers of cut packets share the "
    "receiver's link",
    "U9": "four flows of 2 MB share 325 Gbps into the pod of the slow link: 200 us, and a round trip of 14 us",
    "B2": "oblivious senders do not avoid marked paths, and in queues of 500 packets those packets wait that shorter "
    "queues cut, to be sent again over other paths",
}
"""Rows that do not hold: what decides them."""
