"""`python -m weft` is the command `weft`."""

from .entry import main

main()
