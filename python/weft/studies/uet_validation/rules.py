"""Why a row has no verdict or does not hold: the rule that decides it."""

NOT_EXPRESSED: dict[str, str] = {
    "U6": "the list starts windows at 50 packets (`-cwnd 50`), Weft at 1.5 bandwidth-delay products",
}
"""Rows without a verdict: what Weft cannot express of their set-up."""

DECIDING: dict[str, str] = {}
"""Of rows that do not hold."""
