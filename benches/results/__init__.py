"""Time and memory of `weft summary`, `report`, `plot` and `query` on a large sweep."""
