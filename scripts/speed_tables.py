"""Writes the table of ratios into a page, from the JSON of `weft bench --against htsim --json`.

`python scripts/speed_tables.py docs/speed.md < RESULTS`: replaces the text between the lines
`<!-- htsim: begin -->` and `<!-- htsim: end -->` of the page. Several outputs may follow each other.
"""

import json
import sys
from pathlib import Path
from typing import Any

from weft import quantity

BEGIN, END = "<!-- htsim: begin -->\n", "<!-- htsim: end -->\n"
AIMS = {
    "uec-permutation-1024": 10,
    "uec-permutation-8192": 12,
    "uec-incast-1024": 8,
    "uec-all-to-all-128": 10,
    "uec-ring-128": 10,
    "roce-incast-1024": 10,
    "roce-dcqcn-1024": 10,
}
"""The ratio that Weft should reach."""


def rows(text: str) -> list[dict[str, Any]]:
    """The rows of one or more JSON lists."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        part, end = decoder.raw_decode(text)
        found += part
        text = text[end:]
    return found


def _ratio(row: dict[str, Any]) -> str:
    return quantity.ratio(row["ratio"]) + ("" if row["comparable"] else " †")


def _aim(row: dict[str, Any]) -> str:
    """The aim, and whether the median ratio reaches it."""
    aim = AIMS.get(row["case"])
    if aim is None:
        return ""
    return f"{aim}: {'reached' if row['comparable'] and row['ratio'] >= aim else 'missed'}"


def long_table(found: list[dict[str, Any]]) -> str:
    """All measurements."""
    head = (
        "workload",
        "rounds",
        "htsim",
        "`weft run`",
        "its engine",
        "ratio (range)",
        "aim",
        "memory: htsim, Weft",
        "packets",
        "last flow",
    )
    cells = [
        (
            f"{row['summary']} (`{row['case']}`)",
            str(len(row["rounds"])),
            quantity.seconds(row["htsim_seconds"]),
            quantity.seconds(row["weft_seconds"]),
            quantity.seconds(row["weft_engine_seconds"]),
            f"**{_ratio(row)}** ({quantity.span((row['ratio_min'], row['ratio_max']), quantity.ratio)})",
            _aim(row),
            f"{quantity.size(row['htsim_memory'])}, {quantity.size(row['weft_memory'])}",
            quantity.change(row["packets_deviation"]),
            quantity.change(row["last_deviation"]),
        )
        for row in found
    ]
    return _markdown(head, cells)


def _markdown(head: tuple[str, ...], cells: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def replaced(page: str, table: str) -> str:
    """The page with this table between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page needs the lines {BEGIN.strip()} and {END.strip()}")
    return before + begin + table + end + after


def main(pages: list[str], text: str) -> None:
    """Replace the tables of these pages."""
    found = rows(text)
    for name in pages:
        path = Path(name)
        path.write_text(replaced(path.read_text(encoding="utf-8"), long_table(found)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdin.read())
