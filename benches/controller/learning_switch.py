"""The baseline: a plain learning switch on os-ken, as in its tutorial.

`python -m benches.controller.learning_switch PORT` listens on that port until it is stopped. On a table miss it learns
the sender's port and forwards the frame to the receiver's port, installing a rule, or floods it if the receiver is
unknown. It has no topology, no TCP and no barriers: its work per packet is the minimum for an os-ken application.
"""

import logging
import os
import signal
import sys
import types
from collections import defaultdict
from typing import Any

os.environ.setdefault("OSKEN_HUB_TYPE", "native")

from os_ken import cfg
from os_ken.base.app_manager import AppManager, OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib import hub
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class LearningSwitch(OSKenApp):  # type: ignore[misc] # os-ken has no types
    """Learns, for each switch separately, which port leads to which station."""

    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]  # noqa: RUF012 # required by os-ken

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ports: defaultdict[int, dict[str, int]] = defaultdict(dict)

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)  # type: ignore[untyped-decorator]
    def connected(self, event: Any) -> None:
        """Send table misses to the controller."""
        switch = event.msg.datapath
        up = switch.ofproto_parser.OFPActionOutput(switch.ofproto.OFPP_CONTROLLER, switch.ofproto.OFPCML_NO_BUFFER)
        self.add(switch, 0, {}, [up])

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def missed(self, event: Any) -> None:
        """Learn the sender, forward to the receiver."""
        message = event.msg
        switch = message.datapath
        in_port = message.match["in_port"]
        header = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        ports = self.ports[switch.id]
        ports[header.src] = in_port
        out = ports.get(header.dst, switch.ofproto.OFPP_FLOOD)
        actions = [switch.ofproto_parser.OFPActionOutput(out)]
        if out != switch.ofproto.OFPP_FLOOD:
            self.add(switch, 1, {"in_port": in_port, "eth_dst": header.dst, "eth_src": header.src}, actions)
        frame = switch.ofproto_parser.OFPPacketOut(
            datapath=switch,
            buffer_id=switch.ofproto.OFP_NO_BUFFER,
            in_port=in_port,
            actions=actions,
            data=message.data,
        )
        switch.send_msg(frame)

    @staticmethod
    def add(switch: Any, priority: int, match: dict[str, Any], actions: list[Any]) -> None:
        """Add a rule."""
        of, parser = switch.ofproto, switch.ofproto_parser
        rule = parser.OFPFlowMod(
            datapath=switch,
            priority=priority,
            match=parser.OFPMatch(**match),
            instructions=[parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, actions)],
        )
        switch.send_msg(rule)


def main() -> None:
    """Run until a signal arrives."""
    logging.basicConfig(level=logging.ERROR)
    cfg.CONF([], project="os_ken", default_config_files=[])
    cfg.CONF.set_override("ofp_listen_host", "127.0.0.1")
    cfg.CONF.set_override("ofp_tcp_listen_port", int(sys.argv[1]))

    def end(number: int, frame: types.FrameType | None) -> None:
        # os-ken's threads cannot be stopped.
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    manager = AppManager.get_instance()
    manager.load_apps(["os_ken.controller.ofp_handler"])
    manager.applications_cls[LearningSwitch.__name__] = LearningSwitch
    contexts = manager.create_contexts()
    hub.joinall(manager.instantiate_apps(**contexts))


if __name__ == "__main__":
    main()
