"""Emulation: a scenario's fabric out of network namespaces, with the Linux switch and real TCP.

`weft emulate` plans each run as a simulation does, then carries it out in a jail (`jail`): private namespaces in which
Mininet (`topology`, `weft_mininet`) builds hosts, links and switches, tc shapes the links (`shaping`), hosts get the
TCP that the scenario asks for (`stack`), `weft-loadgen` replays the scenario's flows on real sockets, links fail and
heal (`events`), and counters are sampled (`sampling`). Apart from the rest of `weft` because nothing else needs Linux
or root.

`sweep` and `run` work outside of the jail, `inside` and everything it imports inside; `plan` is what both know.
"""
