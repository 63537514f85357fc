"""Why a figure that exists for other results does not exist for these."""

from ..content import RANKED, Content
from ..labels import plural
from ..metrics import METRICS
from ..run_ends import unsampled
from ..summary_table import NO_FLOWS
from .collectives import KEYS
from .rank_times import NAME
from .registry import FIGURES

_OF_MEASURE = {measure.file: measure.key for figure in FIGURES for measure in figure.measures if measure.file}


def reasons(name: str, content: Content) -> list[str]:
    """Why there is no figure of this name, one sentence and details; empty if there is none of this name ever."""
    if name in KEYS:
        return _of_collectives(content)
    if name == NAME:
        return [_NO_ROUND]
    if name in _OF_MEASURE:
        return _of_means(_OF_MEASURE[name], content)
    if name.startswith("ranks-") and name.removeprefix("ranks-") in _OF_MEASURE:
        return _of_ranks(content)
    figure = next((figure for figure in FIGURES if figure.file == name), None)
    if figure is None:
        return []
    if figure.steady and (lines := content.summary.without_means()):
        return lines
    if figure.over_time and content.summary.rows and (why := unsampled(content.summaries)):
        return [why]
    of_flows = any("class" in table.columns for table in figure.data(content).values()) or not content.classes
    return (
        [NO_FLOWS]
        if of_flows and not content.summary.rows
        else [f"There are no data of it in {content.results.where}."]
    )


def of_means(content: Content) -> list[str]:
    """Why there is no figure of mean completion times; empty if there is one."""
    return [] if "mean_fct_s" in content.intervals()["metric"] else _of_means("mean_fct_s", content)


def _of_means(key: str, content: Content) -> list[str]:
    rows = content.summary.rows
    if not rows:
        return [NO_FLOWS]
    if lines := content.summary.without_means():
        return lines
    metric = next(one for one in METRICS if one.key == key)
    if metric.of_finished and not any(row.finished for row in rows):
        return [
            "No flow that counts finished, so there is no mean of finished flows: raise `run.limit` or lower the load."
        ]
    if metric.rare:
        return [f"No class has {metric.least:,} finished flows in every run of a scheme: raise `run.duration`."]
    return [f"No run has a value of {metric.title}."]


_NO_ROUND = "No round of a collective, step or trace was completed: raise `run.limit` or `run.duration`."


def _of_collectives(content: Content) -> list[str]:
    if not content.collectives:
        return ["No run has a collective: see `traffic.collective`."]
    return content.summary.without_means() or [
        "No round of a collective finished: raise `run.limit` or `run.duration`."
    ]


def _of_ranks(content: Content) -> list[str]:
    number, seeds = len(content.schemes), len(content.results.seeds)
    if number not in RANKED:
        return [
            f"There {'is' if number == 1 else 'are'} {plural(number, 'scheme')}, and diagrams rank {RANKED[0]} to"
            f" {RANKED[-1]}: see the differences in `weft summary`."
        ]
    if seeds < 2:
        return ["There is one seed, and ranks need at least 2: repeat `weft run` with `--seeds 5`."]
    assert content.ranks is not None
    return content.ranks.cautions() or ["Two schemes have no values of this metric at a common point."]
