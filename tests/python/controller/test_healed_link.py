"""A link fails and recovers, with Open vSwitch: subflows that shared a path are spread again."""

from __future__ import annotations

import pytest

from steady_limits import MIDDLES, uninterrupted


@pytest.mark.long
def test_a_subflow_that_had_to_share_a_path_moves_back_when_the_link_is_healed_and_no_frame_is_lost(lab):
    seen = lab(
        """
        with steady() as (controller, net):
            flows = subflows_of(controller)
            device = interface(net, "s4", "s1")
            sh(f"ip link set {device} down")
            until("no subflow over s4", lambda: "s4" not in controller.middles())
            shared = controller.middles()
            calm(controller)
            with Probing(net, flows) as probing:
                probing.more(50)
                sh(f"ip link set {device} up")
                until("a path for each", lambda: controller.middles() == list(MIDDLE))
                calm(controller)
                probing.more(50)
            with Probing(net, flows) as later:
                later.more(200)
                looked(controller)
            tell(shared=shared, moving=probing.row(), later=later.row(),
                 spread=controller.counter("flows_spread"), log=controller.log())
        """,
    )
    assert len(seen["shared"]) == 4 and "s4" not in seen["shared"], seen["log"]
    assert seen["spread"] == 1
    # One subflow moved to another path and back; nothing else changed.
    moving = seen["moving"]
    assert (moving["losses"], moving["copies"], moving["strays"]) == (0, 0, 2), (moving, seen["log"])
    assert moving["middles"] == MIDDLES
    uninterrupted(seen["later"])
