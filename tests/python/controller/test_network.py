"""The controller with Open vSwitch and the kernel's Multipath TCP: two hosts, four paths between them."""

from __future__ import annotations

import pytest

from lab import BUSY


def test_everything_goes_through_and_nothing_storms(lab):
    seen = lab(
        """
        from forged import with_ipv6

        with steered() as (controller, net):
            # All frames but those of LLDP, of which each port sends one per second.
            others = lambda: sum(frames(net).values()) - controller.counter("lldp_sent")
            before = others()
            looked(controller)
            idle = others() - before
            before = others()
            first = pings(net)
            nobody = pings(net, "10.0.0.99", count=3, patience_s=2)
            asked = others() - before
            tcp = exchanged(net, socket.AF_INET, socket.SOCK_STREAM, net.address("b"), 4000)
            udp = exchanged(net, socket.AF_INET, socket.SOCK_DGRAM, net.address("b"), 4000)
            back = pings(net, "a", source="b")
            for number, host in enumerate("ab", 1):
                with_ipv6(net, host, number)
            ping6 = pings(net, "fd00::2", more="-6")
            tcp6 = exchanged(net, socket.AF_INET6, socket.SOCK_STREAM, "fd00::2", 4000)
            udp6 = exchanged(net, socket.AF_INET6, socket.SOCK_DGRAM, "fd00::2", 4000)
            tell(idle=idle, asked=asked, first=first, nobody=nobody, back=back, ping6=ping6,
                 through=[tcp, udp, tcp6, udp6], differences=controller.show("switches")["differences"],
                 flows=controller.show("connections")["flows"], ended=controller.stop(2), log=controller.log())
        """
    )
    assert (seen["first"], seen["back"], seen["ping6"], seen["nobody"]) == (5, 5, 5, 0), seen["log"]
    assert seen["through"] == [True] * 4, seen["log"]
    assert seen["differences"] == []
    # At most a round of LLDP is between sending and counting.
    assert seen["idle"] < 20
    # Eight pings over four hops and back, ARP before them.
    assert seen["asked"] < 120
    assert seen["ended"] == 0
    assert "error" not in seen["log"].lower(), seen["log"]


def test_four_subflows_take_four_paths_and_move_when_a_cable_is_cut(lab):
    seen = lab(
        """
        with steered() as (controller, net):
            pings(net)
            with Flowing(net) as flow:
                during = [rates(net), controller.middles()]
                shown = controller.show("connections")["connections"]
                sh(f"ip link set {interface(net, 's4', 's1')} down")
                until("no subflow over s4", lambda: "s4" not in controller.middles())
                moved = [rates(net, 3), controller.middles()]
                received = flow.received
                until("data arrive", lambda: flow.received > received + 2_000_000)
            status = controller.show("status")
            tell(during=during, states=[one["state"] for one in shown],
                 moved=moved, set_up=status["status"]["path_set_up"], log=controller.log())
        """
    )
    rates, middles = seen["during"]
    assert middles == ["s3", "s4", "s5", "s6"], seen["log"]
    assert all(rate > BUSY for rate in rates.values()), rates
    assert set(seen["states"]) == {"established"}
    rates, middles = seen["moved"]
    assert len(middles) == 4 and "s4" not in middles
    # The three remaining links are fully used.
    assert rates["s4"] == 0
    assert all(rates[name] > BUSY for name in ("s3", "s5", "s6")), rates
    assert seen["set_up"]["count"] >= 4


def test_switches_that_crash_are_set_up_again_and_traffic_goes_on(lab):
    seen = lab(
        """
        with steered() as (controller, net):
            before = pings(net)
            crash(net.switch)
            until("a ping comes back", lambda: pings(net, count=1, patience_s=1) == 1)
            controller.ready()
            after = pings(net)
            tell(before=before, after=after, rates=carried(net), log=controller.log())
        """
    )
    assert (seen["before"], seen["after"]) == (5, 5), seen["log"]
    assert all(rate > BUSY for rate in seen["rates"].values()), seen["rates"]
    assert seen["log"].count("is ready") == 12


@pytest.mark.long
def test_an_openflow_1_0_switch_two_controllers_and_a_wrong_fabric_file_are_said(lab):
    seen = lab(
        """
        wrong = Path("/run/wrong.fabric.toml")
        wrong.write_text(fabric(Topology.isolated, RATE_BPS).replace('["s1", "s3"]', '["s1", "s2"]'))
        first = Controller("--fabric", str(wrong))
        with network(controllers=(PORT, PORT + 1)) as net:
            first.ready()
            until("differences are said", lambda: "differs from the fabric file: " in first.log())
            differences = first.show("switches")["differences"]
            alone = pings(net)
            second = Controller("--fabric", str(FABRIC), port=PORT + 1)
            second.ready()
            until("all switches are taken over", lambda: first.counter("switches_taken_over") == 6)
            both = pings(net)
            looked(second)
            taken = first.counter("switches_taken_over")
            second.stop()
            first.stop()
            net.switch._configure("set", "bridge", "s6", "protocols=OpenFlow10")
            first.start()
            until("the old switch is seen", lambda: "OpenFlow 1.0" in first.log())
            first.ready(5, 12)
            until("it tries again", lambda: first.counter("switches_of_another_version") > 1)
            five = pings(net)
            tell(differences=differences, alone=alone, both=both, taken=taken, five=five, log=first.log(),
                 second=second.log(), unsuited=first.counter("switches_of_another_version"))
        """,
    )
    assert (seen["alone"], seen["both"], seen["five"]) == (5, 5, 5), seen["log"]
    assert any("s3" in difference for difference in seen["differences"])
    assert any("s2" in difference for difference in seen["differences"])
    assert "differs from the fabric file: " in seen["log"] and "differs from the fabric file" not in seen["second"]
    assert seen["taken"] == 6
    assert seen["log"].count("another controller has taken over switch s1") == 1
    assert seen["log"].count("speaks OpenFlow 1.0, not OpenFlow 1.3") == 1
    assert "ovs-vsctl set bridge BRIDGE protocols=OpenFlow13" in seen["log"]
    assert seen["unsuited"] > 1


@pytest.mark.long
def test_ports_that_vanish_while_paths_are_installed_fail_those_and_nothing_else(lab):
    seen = lab(
        """
        import threading
        from flood import accepting

        with steered() as (controller, net):
            pings(net)
            accepting(net)
            stop, failed, took = threading.Event(), [], []

            def connect():
                with entered(net.namespaces["a"]):
                    # At a pace at which no port is wanted again before it is free, a minute later.
                    for _ in paced(0.005):
                        if stop.is_set():
                            return
                        try:
                            with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as one:
                                # The kernel sends a SYN again after 1, 3, 7 and 15 s.
                                one.settimeout(PATIENCE_S)
                                began = time.monotonic()
                                one.connect((net.address("b"), 4000))
                                took.append(time.monotonic() - began)
                        except OSError as error:
                            failed.append(str(error))

            connecting = threading.Thread(target=connect)
            connecting.start()
            def more():
                there = len(took)
                until("twenty more connections", lambda: len(took) >= there + 20)

            for middle in ("s3", "s4"):
                more()
                net.switch._configure("del-port", "s1", interface(net, "s1", middle))
                net.switch._configure("del-port", interface(net, middle, "s2"))
            more()
            stop.set()
            connecting.join()
            after = pings(net)
            tell(failed=failed, took=[len(took), max(took)], after=after, rates=carried(net, 2),
                 alive=controller.process.poll() is None,
                 counters=controller.show("status")["counters"], log=controller.log())
        """
    )
    assert seen["alive"] and seen["after"] == 5, seen["log"]
    # The kernel retries a connection whose SYN went to the missing port.
    assert seen["failed"] == [], (seen["took"], seen["log"])
    assert seen["took"][0] > 20
    assert all(seen["rates"][name] > BUSY for name in ("s5", "s6")), seen["rates"]
    assert "internal" not in seen["log"] and "Traceback" not in seen["log"]


def test_malformed_options_are_forwarded_as_plain_tcp_and_counted(lab):
    seen = lab(
        """
        import struct
        from segments import syn

        # Too short, cut, of lengths that MP_CAPABLE and MP_JOIN never have, past the end, without length.
        BAD = ("1e02", "1e0301", "1e070181010203", "1e280181", "1e05100001", "1e000000")
        with steered() as (controller, net):
            pings(net)
            with entered(net.namespaces["b"]):
                hearing = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
                hearing.bind((net.interface("b"), 0))
                hearing.setblocking(False)
            with entered(net.namespaces["a"]):
                raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
                raw.bind((net.interface("a"), 0))
            macs = [net.hosts[host].MAC() for host in "ab"]
            addresses = [net.address(host) for host in "ab"]
            made = [syn(macs, addresses, (41000 + n, 4000), bytes.fromhex(bad)) for n, bad in enumerate(BAD)]
            sent = {frame[34:36] for frame in made}
            for frame in made:
                raw.send(frame)
            heard = set()

            def listen():
                with contextlib.suppress(BlockingIOError):
                    while frame := hearing.recv(2000):
                        if frame[23] == 6 and frame[36:38] == struct.pack("!H", 4000):
                            heard.add(frame[34:36])
                return heard == sent

            until("all have arrived", listen, state=lambda: [sent, heard])
            tell(sent=len(sent), heard=len(heard), counters=controller.show("status")["counters"],
                 connections=controller.show("connections")["total"], after=pings(net), log=controller.log())
        """
    )
    assert seen["heard"] == seen["sent"] == 6, seen["log"]
    assert seen["connections"] == 0
    assert sum(value for name, value in seen["counters"].items() if "malformed" in name) >= 5, seen["counters"]
    assert seen["after"] == 5


def test_a_spanning_tree_uses_one_path(lab):
    seen = lab(
        """
        controller = Controller("--forwarding", "spanning-tree")
        with network() as net:
            controller.ready()
            first = pings(net)
            tell(first=first, rates=carried(net, 1), log=controller.log())
        """
    )
    assert seen["first"] == 5, seen["log"]
    rates = sorted(seen["rates"].values())
    assert rates[-1] > BUSY and sum(rates[:-1]) < 0.05 * rates[-1]
