"""The colours of differences in the terminal."""

COLOURS = {"good": "green", "bad": "red", "": "dim"}
"""Colour of a difference, by its verdict; see `weft.difference.Difference.verdict`."""
