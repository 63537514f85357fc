"""All figures of a comparison; a new one is a file with a `FIGURE` and a line here."""

from . import by_class, by_size, curves, over_time, queues
from .figure import Figure

FIGURES: tuple[Figure, ...] = (
    by_class.COMPLETION,
    by_class.THROUGHPUT,
    by_size.FIGURE,
    curves.FIGURE,
    over_time.FIGURE,
    queues.FIGURE,
)
"""All figures, in the order of the page."""
