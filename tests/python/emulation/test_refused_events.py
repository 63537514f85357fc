"""Events and flows that an emulation cannot carry out are refused before anything starts."""

import pytest

from plans import plan_of
from weft.emulation.errors import EmulationError
from weft.emulation.run import prepare


def test_a_change_of_links_is_refused_with_its_time_and_the_events_that_are_supported():
    event = {"at_ps": 10**10, "change": "change", "target": "h0-l0 (loss 0.01)", "up": None, "links": [0]}
    with pytest.raises(EmulationError, match=r"event at 0\.01 s .* change h0-l0 \(loss 0\.01\)") as refused:
        prepare(plan_of(events=[event]))
    assert "fail, heal, fail_node, heal_node and flap" in str(refused.value.hint)


def test_flows_that_wait_for_others_are_refused_with_their_number():
    with pytest.raises(EmulationError, match="3 flows wait for others") as refused:
        prepare(plan_of(flows_waiting=3))
    assert "`weft run` simulates them" in str(refused.value.hint)
