"""`weft check`: check a scenario without running it."""

from collections import Counter

from ..estimate import estimate
from ..labels import plural
from . import plugin, shell
from .live import announced
from .scenario_file import ScenarioFile, Sets, read, warn_of


@shell.guarded
def check(scenario: ScenarioFile, sets: Sets = None, plugins: plugin.Plugins = None) -> None:
    """Check a scenario without running it; list its runs, and estimate their time, memory and disk space.

    [bold]Examples[/bold]

      weft check mine.toml
      weft check mine.toml --set fabric.k=8
    """
    plugin.load(plugins)
    plan = read(scenario, "check").with_sets(sets or [])
    with announced("Checking all points of the sweep ..."):
        points, warnings = plan.check()
    warn_of(warnings, points)
    shell.out.print(f"{scenario}: {plural(len(points), 'run')}", markup=False)
    for label, number in Counter(point.label for point in points).items():
        times = f"  ({number} seeds)" if number > 1 else ""
        shell.out.print(f"  {label}{times}", markup=False, soft_wrap=True)
    with announced("Estimating the cost of the runs ..."):
        cost = estimate(plan, always_measured=True)
    shell.say(f"Running it takes {cost}.")
