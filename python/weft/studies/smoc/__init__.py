"""Multipath TCP under a controller that gives each subflow a path, after Nakasan et al.

The paper is "A Simple Multipath OpenFlow Controller using topology-based algorithm for Multipath TCP". `topologies`
has its fabrics, `setup` defines a run, `table` reads results, `claims` has the rows S1 to S5 with their decision rules,
`figures` draws the paper's figures; these serve both simulated and emulated runs. `emulated` is the study on real
hosts, with `inside` in the jail and `transfers` outside.
"""
