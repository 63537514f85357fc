"""Tags compared with tables: Tag-and-Forward on the paper's fat-tree, after Ishimori, Cerqueira and Abelém.

The paper is "Tag-And-Forward: A Source-Routing Enabled Data Plane for OpenFlow Fat-Tree Networks". `fabric` has its
Figure 1, `flows` the contents of its tables, `setup` the comparisons. `measurements` is the study's part: it builds a
jail for each peer (`jails`, in it `inside`, `testbed` and `forwarder`) and measures them in turn. `table` reads
results, `claims` has the rows G1 to G5 with their decision rules, `external` the simulated rows G6 and G7, `figures`
draws the paper's figures.
"""

from .study import TagAndForward

__all__ = ["TagAndForward"]
