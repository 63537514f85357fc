"""Key findings: the largest significant differences from the baseline, as sentences.

Pure: a summary in, sentences out. Every sentence is backed by a paired difference over flows that finished under both
schemes, significant after the correction for all differences at its point.
"""

from dataclasses import dataclass

from .. import quantity
from ..difference import Difference
from ..labels import short_key
from ..summary_table import Row, Summary

WORTH_SAYING = 0.02
"""Smaller relative differences are not mentioned, however significant."""
PER_SCHEME = 2
"""Maximum number of findings per scheme: one bad scheme must not hide the others."""


@dataclass(frozen=True)
class Finding:
    """One sentence and the scheme it is about."""

    scheme: str
    text: str
    good: bool
    size: float


def findings(summary: Summary, limit: int = 4) -> list[Finding]:
    """The largest differences in mean FCT, at most one for each scheme and class."""
    best: dict[tuple[str, str], Finding] = {}
    for row in summary.rows:
        found = row.differences.get("mean_fct_s")
        if found is None or not found.verdict(-1) or abs(found.change.mean) < WORTH_SAYING:
            continue
        finding = _finding(row, found, summary)
        key = (finding.scheme, str(row.group.get("class", "")))
        if key not in best or best[key].size < finding.size:
            best[key] = finding
    chosen: list[Finding] = []
    for finding in sorted(best.values(), key=lambda f: -f.size):
        if sum(other.scheme == finding.scheme for other in chosen) < PER_SCHEME:
            chosen.append(finding)
    return chosen[:limit]


def _finding(row: Row, found: Difference, summary: Summary) -> Finding:
    scheme, kind = str(row.group["scheme"]), str(row.group.get("class", ""))
    where = ", ".join(
        f"{short_key(key, row.group)} {value}"
        for key, value in row.group.items()
        if key not in ("scheme", "class") and value not in (None, "")
    )
    change = found.change
    ends = sorted(abs(end) for end in (change.low, change.high) if end is not None)
    if change.mean >= 1:
        size = f"{1 + change.mean:.1f} times that with {summary.baseline}"
        interval = " to ".join(f"{1 + end:.1f}" for end in ends)
    else:
        direction = "lower" if change.mean < 0 else "higher"
        size = f"{quantity.percent(abs(change.mean))} {direction} than with {summary.baseline}"
        interval = " to ".join(quantity.percent(end) for end in ends)
    text = f"mean completion time of {f'{kind} flows' if kind else 'flows'} is {size}"
    text += f" at {where}" if where else ""
    return Finding(scheme, f"{text} (95 % interval: {interval})", change.mean < 0, abs(change.mean))
