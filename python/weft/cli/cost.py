"""What `weft run` says of the cost of a scenario before it begins, and the refusal if the disk is too small."""

from pathlib import Path

from .. import quantity
from ..estimate import Estimate, available_memory, free_disk
from . import shell

_UNCERTAIN = 2
"""The factor by which an estimate may be wrong."""


def refuse_full_disk(cost: Estimate, folder: Path) -> None:
    """An error if the results will not fit on the disk of their directory; a warning if they may not."""
    free = free_disk(folder)
    if cost.disk_bytes <= free:
        return
    needed, there = quantity.rough_size(cost.disk_bytes), quantity.rough_size(free)
    message = f"the results need about {needed}, and the disk of {folder} has {there} free"
    if cost.disk_bytes <= _UNCERTAIN * free:
        shell.warn(f"{message}: if it becomes full, finished runs are kept")
        return
    hint = "-o DIR on another disk, fewer --seeds, a longer measure.interval, or --quick for a part of it"
    raise shell.fail(message, hint)


def tell(cost: Estimate, *, is_quick: bool) -> None:
    """Print the cost if it is notable, and a warning if the memory is too small."""
    if cost.is_notable:
        shorter = "" if is_quick else "; --quick runs a part of it"
        shell.say(f"This takes {cost}{shorter}.")
    free = available_memory()
    if free is not None and cost.memory_bytes > free:
        needed, there = quantity.rough_size(cost.memory_bytes), quantity.rough_size(free)
        fewer = "run fewer at a time (--jobs 1), or --quick" if cost.parallel > 1 else "--quick runs a part of it"
        shell.warn(f"about {needed} of memory are needed, and {there} are available: {fewer}")
