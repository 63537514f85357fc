"""Key findings: the largest significant differences from the baseline, as sentences.

Pure: a summary in, sentences out. Every sentence is backed by a paired difference over flows that finished under both
schemes, significant after the correction for all differences at its point.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .. import quantity
from ..difference import Difference
from ..labels import short_key
from ..paths import Row as CollectiveRow
from ..summary_table import Row, Summary

MEASURES = {
    "mean_fct_s": ("mean completion time", -1),
    "p99_fct_s": ("99th percentile of completion times", -1),
    "median_fct_s": ("median completion time", -1),
    "mean_throughput_bps": ("mean throughput", +1),
}
"""The measures of flows: their words and the better direction. A later one counts where no earlier one differs."""
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
    place: int = 0
    """The place of its metric among those that findings may be about."""


def findings(summary: Summary, collectives: Sequence[CollectiveRow] = (), limit: int = 4) -> list[Finding]:
    """The largest differences: of collectives first, then of flows, at most one for each scheme and class."""
    return [*_of_collectives(collectives, str(summary.baseline)), *_of_flows(summary, limit)][:limit]


def no_finding(summary: Summary) -> str:
    """A sentence for results in which schemes are compared and do not differ; empty without a comparison."""
    seeds = max((len(row.seeds) for row in summary.rows if row.differences), default=0)
    if not seeds:
        return ""
    if seeds == 1:
        return f"One seed: no difference from {summary.baseline} can be significant."
    return (
        f"No difference from {summary.baseline} in completion times or throughput is significant with {seeds} seeds:"
        " more seeds (--seeds) show smaller differences."
    )


def _of_collectives(rows: Sequence[CollectiveRow], baseline: str) -> list[Finding]:
    """The largest difference of each scheme and collective."""
    best: dict[tuple[str, str], Finding] = {}
    for row in rows:
        found = row.differences.get("completion_s")
        if found is None or not found.verdict(-1) or abs(found.change.mean) < WORTH_SAYING:
            continue
        size, interval = _size(found, baseline)
        text = f"completion of {row.collective} is {size}" + (f" at {row.point}" if row.point else "")
        finding = Finding(
            row.scheme, f"{text} (95 % interval: {interval})", found.change.mean < 0, abs(found.change.mean)
        )
        key = (row.scheme, row.collective)
        if key not in best or best[key].size < finding.size:
            best[key] = finding
    return sorted(best.values(), key=lambda one: -one.size)


def _of_flows(summary: Summary, limit: int) -> list[Finding]:
    best: dict[tuple[str, str], Finding] = {}
    for row in summary.rows:
        for measure, (_, better) in MEASURES.items():
            found = row.differences.get(measure)
            if found is None or not found.verdict(better) or abs(found.change.mean) < WORTH_SAYING:
                continue
            finding = _finding(row, found, summary, measure)
            key = (finding.scheme, str(row.group.get("class", "")))
            if key not in best or _order(finding) < _order(best[key]):
                best[key] = finding
            break
    chosen: list[Finding] = []
    for finding in sorted(best.values(), key=_order):
        if sum(other.scheme == finding.scheme for other in chosen) < PER_SCHEME:
            chosen.append(finding)
    return chosen[:limit]


def _order(finding: Finding) -> tuple[int, float]:
    return finding.place, -finding.size


def _finding(row: Row, found: Difference, summary: Summary, measure: str) -> Finding:
    scheme, kind = str(row.group["scheme"]), str(row.group.get("class", ""))
    where = ", ".join(
        f"{short_key(key, row.group)} {value}"
        for key, value in row.group.items()
        if key not in ("scheme", "class") and value not in (None, "")
    )
    size, interval = _size(found, str(summary.baseline))
    words, better = MEASURES[measure]
    text = f"{words} of {f'{kind} flows' if kind else 'flows'} is {size}"
    text += f" at {where}" if where else ""
    return Finding(
        scheme,
        f"{text} (95 % interval: {interval})",
        found.change.mean * better > 0,
        abs(found.change.mean),
        list(MEASURES).index(measure),
    )


def _size(found: Difference, baseline: str) -> tuple[str, str]:
    """A difference from the baseline in words, and the ends of its interval."""
    change = found.change
    ends = sorted(abs(end) for end in (change.low, change.high) if end is not None)
    if change.mean >= 1:
        return f"{1 + change.mean:.1f} times that with {baseline}", " to ".join(f"{1 + end:.1f}" for end in ends)
    direction = "lower" if change.mean < 0 else "higher"
    size = f"{quantity.percent(abs(change.mean))} {direction} than with {baseline}"
    return size, " to ".join(quantity.percent(end) for end in ends)
