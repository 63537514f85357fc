"""The cost of a frame with tags and with a flow table at every switch, by size and kind of table."""
