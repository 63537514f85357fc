"""The kernel's MPTCP on hosts: addresses for subflows, parsing of `ss`, rejected settings."""

from __future__ import annotations

import pytest

from weft.emulation import mptcp
from weft.emulation.errors import EmulationError

# From Linux 6.18 and iproute2 6.1: the initial subflow of a connection, a joined one, and a plain TCP connection.
FIRST = (
    "0      544696        10.0.0.1:47626 10.0.0.2:5201 cubic wscale:10,10 rto:240 rtt:36.089/0.27 mss:1448 cwnd:75"
    " bytes_sent:6452181 bytes_retrans:183800 bytes_acked:6165390 retrans:0/131 dsack_dups:93 minrtt:0.483"
    " tcp-ulp-mptcp flags:Mmec token:0000(id:0)/ae2fe2fe(id:0) seq:a8c89d85dacc84e sfseq:1 ssnoff:7ab4c83 maplen:0"
)
JOINED = (
    "0      512544 10.0.3.1%a-eth0:52759 10.0.0.2:5201 ts sack cubic wscale:10,10 rto:256 rtt:53.524/0.22 mss:1448"
    " bytes_acked:6147305 send 24023317bps lastsnd:4 retrans:1/21 snd_wnd:7578624"
    " tcp-ulp-mptcp flags:Jjec token:58a785e(id:0)/e2fe2fe(id:3) seq:a8c89d85dacc84e sfseq:0 ssnoff:84691c2b maplen:0"
)
PLAIN = "0 0 10.0.0.1:40000 10.0.0.2:5201 cubic wscale:10,10 rto:204 rtt:0.84/0.295 bytes_acked:165"


def test_subflows_are_read_with_their_connection_and_without_the_interface():
    first, joined = mptcp.read_subflows("\n".join((FIRST, JOINED, PLAIN, "")))
    assert first.rtt_s == pytest.approx(0.036089)
    ends = ("10.0.0.1:47626", "10.0.0.2:5201")
    assert first == mptcp.Subflow("ae2fe2fe", *ends, "cubic", 6165390, 131, first.rtt_s)
    assert joined.connection == "0e2fe2fe"
    assert (joined.source, joined.congestion, joined.retransmissions) == ("10.0.3.1:52759", "cubic", 21)


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "tcp-ulp-mptcp token:", f"{FIRST[:40]}\n"])
def test_what_is_no_subflow_is_left_out(text):
    assert mptcp.read_subflows(text) == []


def test_every_further_subflow_has_an_address_of_its_own():
    assert mptcp.aliases("10.0.0.1", 1) == []
    assert mptcp.aliases("10.0.1.2", 4) == ["10.1.1.2", "10.2.1.2", "10.3.1.2"]


@pytest.mark.parametrize(
    ("address", "subflows", "said"),
    [
        ("10.0.0.1", 0, "0 subflows: Linux supports 1 to 8 per connection"),
        ("10.0.0.1", 9, "9 subflows: Linux supports 1 to 8 per connection"),
        ("10.1.0.1", 2, "host address 10.1.0.1 is not in 10.0.0.0/16"),
    ],
)
def test_more_than_there_is_room_for_is_refused(address, subflows, said):
    with pytest.raises(EmulationError, match=said):
        mptcp.aliases(address, subflows)


def test_on_a_machine_without_it_the_error_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(mptcp, "setting", lambda name: tmp_path / name)
    with pytest.raises(EmulationError, match="this kernel has no MPTCP") as refused:
        mptcp.check()
    assert "CONFIG_MPTCP" in str(refused.value.hint)
    (tmp_path / "net.mptcp.enabled").write_text("1")
    monkeypatch.setattr(mptcp, "program", lambda name: None)
    with pytest.raises(EmulationError, match="missing: mptcpize") as refused:
        mptcp.wrapped(["true"])
    assert "mptcpize" in str(refused.value.hint)
