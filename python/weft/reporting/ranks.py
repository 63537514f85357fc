"""The section of ranks: critical-difference diagrams, and all mean ranks as a table."""

from .. import quantity
from ..content import Content
from ..figures import ranks
from ..markup import escape
from ..metrics import METRICS
from ..palette import styles
from ..scheme_ranks import RankTable
from .parts import mark, named, section

_DRAWN = ("mean_fct_s", "p99_fct_s")
"""The metrics that have diagrams; the table has all."""


def section_of(content: Content) -> str:
    """The section; empty where schemes are not ranked."""
    table = content.ranks
    if table is None or not table.rankings:
        return ""
    blocks = []
    for metric in METRICS:
        if metric.key in _DRAWN and (found := ranks.by_class(content, metric)):
            figures = "".join(
                f'<figure style="--width:{one.width:g}px"><figcaption>{named(name)}</figcaption>{one.svg}</figure>'
                for name, one in found.items()
            )
            blocks.append(f'<h3>{escape(metric.title)}</h3><div class="diagrams">{figures}</div>')
    return section(
        "Ranks of the schemes",
        f"{escape(' '.join(table.notes()))} In the diagrams, a bar joins schemes that cannot be told apart (with gaps: "
        "those that have a dot). The filters above do not change ranks, as a rank depends on all schemes.",
        f"{''.join(blocks)}<h3>All mean ranks</h3>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="All mean ranks">{_table(content, table)}</div>',
        ident="ranks-section",
    )


def _table(content: Content, table: RankTable) -> str:
    looks = styles(content.schemes)
    head = '<th scope="col">class</th><th scope="col">scheme</th>'
    head += "".join(f'<th scope="col" class="n">{escape(metric.title)}</th>' for metric in table.metrics)
    rows = []
    for kind in dict.fromkeys(one.group["class"] for one in table.rankings):
        found = [table.find({"class": kind}, metric) for metric in table.metrics]
        names = dict.fromkeys(name for one in found if one is not None for name in one.schemes)
        for at, name in enumerate(names):
            cells = "".join(
                f'<td class="n">{quantity.MISSING}</td>'
                if one is None
                else f'<td class="n">{one.contest.ranks[name]:.2f} <b>{one.letters[name]}</b></td>'
                for one in found
            )
            first = ' class="first"' if at == 0 else ""
            heads = f"<td>{named(kind)}</td><td>{mark(looks[name])}{named(name)}</td>"
            rows.append(f"<tr{first}>{heads}{cells}</tr>")
        overall = [one.contest.overall if one is not None else None for one in found]
        texts = [quantity.MISSING if p is None else escape(quantity.p_value(p)) for p in overall]
        tests = "".join(f'<td class="n">{text}</td>' for text in texts)
        rows.append(f"<tr><td>{named(kind)}</td><td>Friedman’s p</td>{tests}</tr>")
    return f'<table class="data" id="ranks"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
