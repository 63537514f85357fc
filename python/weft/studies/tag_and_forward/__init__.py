"""Tags against tables: Tag-and-Forward on the paper's fat-tree, after Ishimori, Cerqueira and Abelém.

The paper is "Tag-And-Forward: A Source-Routing Enabled Data Plane for OpenFlow Fat-Tree Networks". `fabric` has its
Figure 1, `flows` what its tables are filled with, `setup` what is compared. `measurements` is the study's part: it
builds a jail for each peer (`jails`, in it `inside`, `testbed` and `forwarders`) and has them take turns. `table`
reads results, `claims` has the rows G1 to G5 with their decision rules, `figures` draws the paper's.
"""

from .study import TagAndForward

__all__ = ["TagAndForward"]
