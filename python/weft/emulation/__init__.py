"""Emulation: a scenario's fabric out of network namespaces, with the Linux switch and real TCP.

`weft emulate` plans each run like a simulation, then carries it out in a jail (`jail`): private namespaces in which
Mininet (`topology`, `weft_mininet`) builds hosts, links and switches, tc shapes the links (`shaping`), hosts get the
scenario's TCP (`stack`), `weft-loadgen` replays the scenario's flows on real sockets, links fail and recover
(`events`), and counters are sampled (`sampling`). A separate package because nothing else needs Linux or root.

`sweep` and `run` work outside the jail, `inside` and its imports inside; both use `plan`.
"""
