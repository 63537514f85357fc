"""The text below a comparison, in terminals and notebooks."""

from .summary_table import Summary


def note(summary: Summary) -> str:
    """The text below a comparison: its seeds, its intervals and its signs."""
    seeds = {len(row.seeds) for row in summary.rows}
    if max(seeds, default=0) < 2:
        note = "One value per run, averaged over the runs of the seed. " if summary.several_runs else ""
        note += "One seed: no confidence intervals (run with --seeds 5 or more)."
    else:
        several = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(max(seeds))
        over = "the runs of a seed, then over " if summary.several_runs else ""
        note = f"One value per run, averaged over {over}{several} seeds."
        note += "" if summary.is_fixed else " ±: half-width of the 95 % confidence interval (Student t)."
    if summary.several_runs:
        note += " Runs without flows of the group do not count."
    if any(row.differences for row in summary.rows):
        note += f" Signed: difference from {summary.baseline}, same {'flows' if summary.same_flows else 'seed'}."
    return " ".join([note, *summary.signs(), *summary.without_differences()])
