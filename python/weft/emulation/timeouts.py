"""The timeout that all of an emulation's daemons share."""

READY_S = 60.0
"""Timeout in seconds for a daemon to start and respond. One that ends is noticed at once; twenty that start together
beside other work may need half a minute. `weft_mininet.py`, which imports nothing of Weft, repeats it."""
