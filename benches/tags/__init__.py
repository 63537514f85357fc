"""What a frame costs with tags and with a flow table at every switch, by what the table is like."""
