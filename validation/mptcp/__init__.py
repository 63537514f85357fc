"""Compares the simulated Multipath TCP with the kernel's: the same cases through both, and a table of the results."""
