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
                hearing.settimeout(0.1)
            made = [
                arp_reply(mac["m"], (to, net.address("a")), net.address("b"))
                for to in (mac["a"], "ff:ff:ff:ff:ff:ff")
            ] + [advertisement(mac["m"], (mac["a"], six["a"]), six["b"], mac["m"])]
            end, heard, sent = time.monotonic() + 4, 0, 0
            while time.monotonic() < end:
                for frame in made:
                    raw.send(frame)
                    sent += 1
                due = time.monotonic() + 0.2
                while time.monotonic() < due:
                    try:
                        heard += hearing.recv(2000) in made
                    except TimeoutError:
                        pass
            after = known()
            still = [pings(net), pings(net, six["b"], more="-6")]
            counters = controller.show("status")["counters"]
            tell(first=first, before=before, after=after, heard=heard, sent=sent, still=still, mac=mac,
                 disputed=counters.get("addresses_disputed"), log=controller.log())
        """,
        limit_s=120,
    )
    assert seen["first"] == [5, 5, 5], seen["log"]
    for when in ("before", "after"):
        assert all(seen["mac"]["b"] in line for line in seen[when]), (when, seen[when], seen["mac"])
    assert seen["sent"] > 20 and seen["heard"] == 0, (seen["heard"], seen["sent"])
    assert seen["still"] == [5, 5]
    assert seen["disputed"] >= 20
    named = [line for line in seen["log"].splitlines() if " claims the address " in line and "refuted" in line]
    assert any("switch s1 port" in line and seen["mac"]["m"] in line for line in named), seen["log"]
    assert all(seen["mac"]["m"] in line for line in named) and len(named) <= 2, named
