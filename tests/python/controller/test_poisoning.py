"""A host claims another's address, with Open vSwitch: nobody accepts the claim."""

from __future__ import annotations


def test_forged_arp_and_neighbour_advertisements_poison_no_neighbour_cache(lab):
    seen = lab(
        """
        import threading
        from flood import *
        from forged import advertisement, arp_reply, with_ipv6

        path = Path("/run/crowded.fabric.toml")
        crowded_fabric(path, 50_000_000)
        controller = Controller("--fabric", str(path))
        with crowded_network(path) as net:
            controller.ready()
            six = {host: with_ipv6(net, host, number) for number, host in enumerate("abm", 1)}
            for host in "abm":
                pings(net, "c", source=host)
            first = [pings(net), pings(net, six["b"], more="-6"), pings(net, six["b"], more="-6", source="m")]
            mac = {host: net.hosts[host].MAC() for host in "abm"}
            known = lambda: [run_in(net, "a", f"ip neighbour show {one}") for one in (net.address("b"), six["b"])]
            before = known()
            with entered(net.namespaces["m"]):
                raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
                raw.bind((net.interface("m"), 0))
            with entered(net.namespaces["a"]):
                hearing = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                hearing.bind((net.interface("a"), 3))
                hearing.setblocking(False)
            made = [
                arp_reply(mac["m"], (to, net.address("a")), net.address("b"))
                for to in (mac["a"], "ff:ff:ff:ff:ff:ff")
            ] + [advertisement(mac["m"], (mac["a"], six["a"]), six["b"], mac["m"])]
            for _, frame in zip(paced(0.07), made * 20):
                raw.send(frame)
            until("the claims are refuted", lambda: controller.counter("addresses_disputed") >= 20)
            after = known()
            # What was let through before them has arrived as well.
            still = [pings(net), pings(net, six["b"], more="-6")]
            heard = 0
            with contextlib.suppress(BlockingIOError):
                while frame := hearing.recv(2000):
                    heard += frame in made
            tell(first=first, before=before, after=after, heard=heard, still=still, mac=mac, log=controller.log())
        """,
    )
    assert seen["first"] == [5, 5, 5], seen["log"]
    for when in ("before", "after"):
        assert all(seen["mac"]["b"] in line for line in seen[when]), (when, seen[when], seen["mac"])
    assert seen["heard"] == 0
    assert seen["still"] == [5, 5]
    named = [line for line in seen["log"].splitlines() if " claims the address " in line and "refuted" in line]
    assert any("switch s1 port" in line and seen["mac"]["m"] in line for line in named), seen["log"]
    assert all(seen["mac"]["m"] in line for line in named) and len(named) <= 2, named
