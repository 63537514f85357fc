"""``scripts/speed_tables.py`` writes the table of ratios into a page."""

from __future__ import annotations

import json

import pytest

import speed_tables

ROW = {
    "case": "uec-incast-1024",
    "summary": "UEC, two hosts",
    "comparable": True,
    "ratio": 9.5,
    "ratio_min": 9.4,
    "ratio_max": 9.6,
    "weft_seconds": 1.0,
    "weft_engine_seconds": 0.5,
    "htsim_seconds": 9.5,
    "weft_memory": 160e6,
    "htsim_memory": 320e6,
    "memory_ratio": 2.0,
    "packets_deviation": 0.001,
    "last_deviation": -0.02,
    "rounds": [{}, {}],
}
PAGE = f"before\n{speed_tables.BEGIN}old\n{speed_tables.END}after\n"


def test_the_table_of_the_page_is_replaced(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    speed_tables.main([str(page)], json.dumps([ROW]) + json.dumps([ROW | {"comparable": False}]))
    text = page.read_text()
    times = "9.50 s | 1.00 s | 500 ms | **9.50** (9.40 to 9.60)"
    rest = "320 MB, 160 MB | +0.1 % | −2.0 % |\n"
    assert f"| UEC, two hosts (`uec-incast-1024`) | 2 | {times} | 8: reached | {rest}" in text
    assert f"**9.50 †** (9.40 to 9.60) | 8: missed | {rest}" in text
    assert text.startswith("before\n<!-- htsim: begin -->\n| workload |")
    assert text.endswith(" |\n<!-- htsim: end -->\nafter\n")


def test_a_page_without_marks_is_an_error():
    with pytest.raises(SystemExit, match="the page needs the lines"):
        speed_tables.replaced("no marks", "")
