"""``scripts/uet_all_to_all.py`` runs the same all-to-alls in uet-htsim and Weft."""

from __future__ import annotations

import sys

import pytest

import uet_all_to_all
from uet_all_to_all import EACH, ROWS, Row

STAND_IN = f"""#!{sys.executable}
import sys
if sys.argv[1:] == ["-h"]:
    print("Usage [-tm traffic_matrix_file]")
    sys.exit(1)
for number in range(240):
    print(f"Flow {{number}} finished at {{100 if number else 340}} total")
print("New: 3840 Rtx: 5")
"""
"""Not htsim: all flows but one take 100 us, so that the mean is 101 us."""


@pytest.fixture
def htsim(tmp_path):
    """A directory with a program that prints what uet-htsim would."""
    program = tmp_path / "htsim_uec"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return tmp_path


def test_a_row_has_the_mean_the_last_completion_and_the_repeated_packets_of_both(htsim, capsys):
    uet_all_to_all.main([str(htsim), "16", "--seeds", "1"])
    head, _, row = capsys.readouterr().out.splitlines()
    assert head.count("|") == row.count("|") == 9
    assert row.startswith("| 16 | 16 kB | no | 101.0, 9")
    # uet-htsim itself: a mean of 92 us, a last completion of 96 to 99 us.
    cells = [cell.strip() for cell in row.split("|")]
    mean, last = (float(cells[at].split(", ")[1]) for at in (4, 6))
    assert (91 < mean < 93, 95 < last < 104, cells[8]) == (True, True, "5, 0")


def test_rows_differ_in_answers_and_requests_only():
    texts = [row.case.scenario(1) for row in (ROWS[1], ROWS[2], ROWS[3])]
    assert [f'ack_bytes = "{EACH} B"' in text for text in texts] == [True, False, False]
    assert ["answer_requests = false" in text for text in texts] == [True, True, False]
    assert all("entropy_choice" not in text for text in texts)
    assert "-sack_threshold" in Row(128, EACH).case.arguments


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["64"], "no row has 64 hosts: 16 or 128"),
        (["--seeds", "0"], "--seeds is 0: it must be 1 or more"),
        ([], "has no htsim_uec: in htsim/sim of the checkout"),
    ],
)
def test_wrong_options_are_refused(tmp_path, capsys, options, said):
    with pytest.raises(SystemExit):
        uet_all_to_all.main([str(tmp_path), *options])
    assert said in capsys.readouterr().err.replace("\n", " ")
