"""iperf3's reports are parsed into received bytes over time; errors name the end whose iperf3 failed."""

from __future__ import annotations

import json

import pytest

from weft.emulation import iperf
from weft.emulation.errors import EmulationError


def interval(begin: float, end: float, count: int) -> dict[str, object]:
    return {"streams": [], "sum": {"start": begin, "end": end, "bytes": count, "omitted": False, "sender": False}}


SENT = {"start": {"connected": [{}]}, "intervals": [], "end": {"sum_sent": {"retransmits": 7}}}
RECEIVED = {
    "start": {"connected": [{}]},
    "intervals": [interval(0, 0.1, 100_000), interval(0.1, 0.2, 250_000), interval(0.2, 0.2, 50)],
    "end": {"sum_received": {"bytes": 350_050, "seconds": 0.2}},
}


def test_a_transfer_is_what_the_receiver_counted():
    found = iperf.read(json.dumps(SENT), "a warning before it\n" + json.dumps(RECEIVED))
    assert [one.throughput_bps for one in found.intervals] == pytest.approx([8e6, 20e6])
    assert (found.received_bytes, found.seconds, found.retransmissions, found.streams) == (350_050, 0.2, 7, 1)
    assert found.mean_bps() == pytest.approx(14e6)
    assert found.mean_bps(0.1) == pytest.approx(20e6)
    assert found.mean_bps(0.0, 0.1) == pytest.approx(8e6)
    assert found.mean_bps(0.15, 0.19) == 0.0


@pytest.mark.parametrize(
    ("sent", "received", "said"),
    [
        ("", json.dumps(RECEIVED), "no report from the sender's iperf3: no output"),
        (json.dumps(SENT), "{ half of it", "no report from the receiver's iperf3: { half of it"),
        (json.dumps({"error": "unable to connect"}), "{}", "the sender's iperf3: unable to connect"),
        (json.dumps(SENT), json.dumps({"intervals": [{}]}), "unexpected iperf3 report: KeyError 'sum'"),
        (json.dumps(SENT), json.dumps(RECEIVED | {"end": {}}), "unexpected iperf3 report: KeyError 'sum_received'"),
        (json.dumps(SENT), json.dumps(RECEIVED | {"end": []}), "unexpected iperf3 report: TypeError"),
    ],
)
def test_reports_that_are_none_are_refused(sent, received, said):
    with pytest.raises(EmulationError, match=said.replace("'", ".").replace("{", r"\{")):
        iperf.read(sent, received)


def test_on_a_machine_without_it_the_error_names_the_package(monkeypatch):
    monkeypatch.setattr(iperf, "program", lambda name: None)
    with pytest.raises(EmulationError, match="missing: iperf3") as refused:
        iperf.check()
    assert "iperf3" in str(refused.value.hint)
