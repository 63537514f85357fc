"""The parts of a figure: its data, its specification, and its words on the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import polars as pl

from ..content import Content
from ..markup import escape
from ..run_ends import unsampled
from .layers import Spec

ALL = "all"
"""The class of all flows."""


@dataclass(frozen=True)
class Toggle:
    """A switch of a figure on the page."""

    name: str
    label: str
    pressed: bool = False
    """Whether it is on at first, and in files."""
    title: str = ""


@dataclass(frozen=True)
class Measure:
    """One of the measures of a figure: a file each, and a tab on the page."""

    key: str
    title: str
    file: str = ""
    """Name of the file; empty for measures of the page alone."""


@dataclass(frozen=True)
class Drawn:
    """The inputs of a specification besides the data."""

    content: Content
    names: Sequence[str]
    """The schemes as they are named."""
    on: frozenset[str]
    """The toggles that are on."""
    measure: Measure | None = None
    few: bool = False
    """The rows are those of one point at a time, as on the page."""


@dataclass(frozen=True)
class Figure:
    """A figure of the page and of files."""

    ident: str
    """The id of its place on the page."""
    title: str
    caption: Callable[[Content], str]
    tables: Mapping[str, Callable[[Content], pl.DataFrame]]
    """The data sets. Those with a column `class` have a panel for each class."""
    kinds: Mapping[str, str]
    """The kind of quantity of each column."""
    spec: Callable[[Drawn], Spec]
    empty: Callable[[Content], str]
    """The text shown if there is no data."""
    file: str = ""
    """Name of its file at each point; empty for figures with measures."""
    toggles: Sequence[Toggle] = field(default=())
    measures: Sequence[Measure] = field(default=())
    steady: bool = False
    """Whether schemes that were not in a steady state at a point are left out there."""
    over_time: bool = False
    """Whether a panel has the time in the run across, and so the events of the run (`events`)."""

    def known(self, content: Content) -> list[Measure]:
        """The measures that these results have."""
        found = set(content.intervals()["metric"]) if self.measures else set()
        return [measure for measure in self.measures if measure.key in found]

    def data(self, content: Content) -> dict[str, pl.DataFrame]:
        """The data sets; empty if they are of classes and there are none."""
        found = {name: read(content) for name, read in self.tables.items()}
        return found if content.classes or all("class" not in table.columns for table in found.values()) else {}

    @property
    def pressed(self) -> frozenset[str]:
        """The toggles that are on in files."""
        return frozenset(toggle.name for toggle in self.toggles if toggle.pressed)

    def variants(self, content: Content) -> dict[str, dict[str, Spec]]:
        """The specifications of the page: by measure (or empty), and by the toggles that are on, joined by commas."""
        names = [toggle.name for toggle in self.toggles]
        chosen = list(chain.from_iterable(combinations(names, size) for size in range(len(names) + 1)))
        return {
            measure.key if measure else "": {
                ",".join(on): self.spec(Drawn(content, content.schemes, frozenset(on), measure, few=True))
                for on in chosen
            }
            for measure in (self.known(content) if self.measures else [None])
        }


def interval_note(content: Content, begin: str = "Vertical lines:") -> str:
    """A caption's explanation of the intervals."""
    if content.summary.is_fixed:
        return "The seeds change nothing, so there is no confidence interval."
    if len(content.results.seeds) > 1:
        return f"{begin} 95 % confidence interval of the mean over {len(content.results.seeds)} seeds (Student t)."
    return "With one seed there is no confidence interval."


NONE_ENDED = "<p>No flow finished.</p>"
NO_FLOW = "<p>No flow started in the measurement window.</p>"
NO_DELIVERY = "<p>No data was delivered before the last sample.</p>"
UNTIL = "The time axis ends with the measurement window, unless most data was delivered after it."


def not_sampled(content: Content, other: str) -> str:
    """The placeholder for a figure of samples that has no data: why there is none, or the `other` text."""
    why = unsampled(content.summaries)
    return f"<p>{escape(why)}</p>" if why else other


def no_data(content: Content) -> str:
    """The placeholder for a figure about flows that has no data."""
    return NONE_ENDED if content.classes else NO_FLOW
