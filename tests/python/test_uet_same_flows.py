"""``scripts/uet_same_flows.py`` runs the set-ups of the uet-validation study with uet-htsim's matrices."""

from __future__ import annotations

import pytest

import uet_same_flows
from weft.studies.uet_validation.published import LIMITS

ONE = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n"
TWO = "Nodes 16\nConnections 2\n0->13 start 0 size 2000000\n13->0 start 40 size 2000000\n"


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one list of two experiments, and one of none."""
    datacenter = tmp_path / uet_same_flows.DATACENTER
    datacenter.mkdir(parents=True)
    (datacenter / "validate_uec_sender.txt").write_text(
        "one.cm \n!Experiment One\n!tailFCT 190\ntwo.cm\n!tailFCT 190\n"
    )
    (datacenter / "validate_load_balancing_snd.txt").write_text("")
    (datacenter / "one.cm").write_text(ONE)
    (datacenter / "two.cm").write_text(TWO)
    return tmp_path


def test_rows_have_the_times_of_the_matrices_of_the_lists(checkout, capsys):
    uet_same_flows.main([str(checkout), "U1", "U2", "--seeds", "2", "1"])
    head, _, one, two = capsys.readouterr().out.splitlines()
    assert head == "| row | Weft | uet-htsim | difference |"
    # docs/uet-validation.md: the time of a flow alone.
    assert one == "| U1 | 176.2 (176.2 to 176.2) | 176.2 (176.2 to 176.2) | 0.0 % |"
    # The second flow starts 40 us after the first one.
    assert two.startswith("| U2 | 216.")
    assert two.endswith("| 176.8 (176.8 to 176.8) | +22.6 % |")


def test_every_row_has_a_matrix_if_the_lists_are_whole(checkout):
    datacenter = checkout / uet_same_flows.DATACENTER
    for name, number in (("validate_uec_sender.txt", 15), ("validate_load_balancing_snd.txt", 10)):
        (datacenter / name).write_text("".join(f"{at}.cm\n!tailFCT 1\n" for at in range(number)))
    found = uet_same_flows.matrices(datacenter)
    assert {limit.ident.partition("-")[0] for limit in LIMITS} == set(found)
    assert found["B10"] == datacenter / "9.cm"


def test_another_directory_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        uet_same_flows.main([str(tmp_path)])
    assert "has no validate_uec_sender.txt: it is not a checkout of uet-htsim" in capsys.readouterr().err
