"""The simulated Multipath TCP beside the kernel's: the same cases through both, and a table of what came out."""
