"""Figures of the OpenFlow controller: how long paths take to set up, and how much it can be asked."""
