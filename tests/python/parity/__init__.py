"""Bridge parity: the same cases over Linux bridges and over `weft-switchd` in each mode."""
