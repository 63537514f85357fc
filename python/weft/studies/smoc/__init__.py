"""smoc: multipath TCP whose subflows a controller puts on paths of their own."""
