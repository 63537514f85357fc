"""Bridge parity: the same table of cases, over Linux bridges and over `weft-switchd` in each mode."""
