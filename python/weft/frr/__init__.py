"""A scenario's fabric as configurations of FRR: BGP unnumbered, BFD, ECMP and the weights of `wcmp`."""
