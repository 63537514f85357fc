"""The runs of a study that were not in a steady state, in groups: all seeds of a scheme at a point."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..labels import plural
from ..results import Results
from ..steadiness import Mark, mark_of


@dataclass(frozen=True)
class MarkedGroup:
    """All runs of a scheme at a point of a study's part, at least one of which is marked."""

    part: str
    name: str
    runs: frozenset[str]
    mark: Mark

    @property
    def text(self) -> str:
        """Such as ``2 of 3 runs were not in a steady state, in clos (ecmp, load 0.8) unstable: offered ...``."""
        mark = self.mark
        how_many = f"{mark.runs} of {plural(mark.of, 'run')} were not in a steady state"
        return f"{how_many}, in {self.part} ({self.name}) {mark.label}: {mark.reason}"


def marked_groups(parts: Mapping[str, Results]) -> list[MarkedGroup]:
    """The marked groups of a study's parts."""
    found = []
    for name, part in parts.items():
        if not part.finished:
            continue
        heads = part.heads()
        runs: dict[tuple[str, str], list[str]] = {}
        for run in part.finished:
            runs.setdefault((run.scheme, run.point), []).append(run.id)
        for values, own in runs.items():
            mark = mark_of((values, heads[run]) for run in own)
            if mark is not None:
                found.append(MarkedGroup(name, ", ".join(filter(None, values)), frozenset(own), mark))
    return found


def remark(groups: Sequence[MarkedGroup], parts: Mapping[str, Results]) -> str:
    """How many runs of a study's parts are in its marked `groups`, at least one, with the first reason."""
    marked, every = sum(group.mark.runs for group in groups), sum(len(part.finished) for part in parts.values())
    first = groups[0].mark
    return f"{marked} of {plural(every, 'run')} were not in a steady state, the first {first.label}: {first.reason}"


def without(parts: Mapping[str, Results], groups: Iterable[MarkedGroup]) -> dict[str, Results]:
    """The parts of a study without these groups; parts without any run left are left out."""
    left_out: dict[str, set[str]] = {}
    for group in groups:
        left_out.setdefault(group.part, set()).update(group.runs)
    kept = {
        name: part.only([run.id for run in part.finished if run.id not in left_out[name]]) if name in left_out else part
        for name, part in parts.items()
    }
    return {name: part for name, part in kept.items() if part.finished or name not in left_out}
