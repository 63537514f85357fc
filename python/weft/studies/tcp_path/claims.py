"""The claims T0 to T11: pure functions of the tables of `table`.

All intervals are 95 % Student t intervals over seeds, of differences or ratios taken seed by seed: the same seed gives
all schemes the same flows. A row's value is the mean over both distributions unless stated otherwise; its note has
each. Nothing is rounded in a claim's favour: the limits in `performance` and `scalability` interpret the paper's
wording and were fixed before any run.
"""

from collections.abc import Callable

from ..outcome import StudyRow
from ..rows import Finding, not_measured, of_finding
from .failures import other_path
from .performance import both_tcps, elephants, mice, others, over, over_time, rates, shares, tfe, three_layer
from .scalability import broadcasts, table_2, tables_of_switches
from .table import Tables


def judge(tables: Tables) -> list[StudyRow]:
    """The rows T0 to T11; T9 is about emulation and not measured."""
    rows = []
    for ident, text, unit, rule in CLAIMS:
        if rule is None:
            rows.append(not_measured(ident, text, unit, "needs real hosts: weft reproduce tcp-path --emulated"))
        else:
            rows.append(of_finding(ident, text, unit, rule(tables), "not enough runs: at least two seeds are needed"))
    return rows


Rule = Callable[[Tables], Finding | None]

CLAIMS: tuple[tuple[str, str, str, Rule | None], ...] = (
    (
        "T0",
        "Figure 6: about 5 % of the flows are elephants, and carry 50 to 95 % of the bytes",
        "% of flows, mean of both",
        shares,
    ),
    (
        "T1",
        "at 40 % load TCP-Path improves elephants' mean throughput over ECMP by about 50 %, at 60 % by up to 70 %",
        "% above ECMP at 40 %",
        elephants,
    ),
    (
        "T2",
        "rabbits and mice: throughput improves negligibly at 10 %, by 10 to 20 % at 40 % load",
        "% above ECMP at 40 %",
        others,
    ),
    (
        "T3",
        "mean FCT of mice falls by over 60 % against ECMP at medium and higher loads; mice gain most",
        "% change at 40 %",
        mice,
    ),
    (
        "T4",
        "TFE is close to TCP-Path with data mining, clearly behind it with web search",
        "% from TCP-Path, elephants, web search at 40 %",
        tfe,
    ),
    (
        "T4b",
        "TFE's other flows may also go by ECMP or over a spanning tree (section IV): elephants gain over either",
        "% over ECMP, elephants, web search at 40 %",
        over,
    ),
    (
        "T5",
        "TFE's forwarding table is 5.6 % (web search) and 5.1 % (data mining) of TCP-Path's",
        "% of TCP-Path's entries at 40 %",
        tables_of_switches,
    ),
    (
        "T6",
        "measured at 4-4-20, the broadcast-to-data ratio at a leaf is close to equation (3)",
        "% at 4-4-20, web search, TCP-Path",
        broadcasts,
    ),
    ("T6b", "Table 2 follows from equation (3) and the means that the text states", "", table_2),
    ("T7", "results scale: 10, 100 and 1000 Mbps give the same picture", "points, the largest difference", rates),
    ("T8", "the three-layer fabric gives the same results as the spine-leaf", "points of difference", three_layer),
    ("T9", "simulation and Linux emulation agree at 10 Mbps, except mice", "", None),
    (
        "T9c",
        "Figure 13, simulated: with Linux's TCP elephants and rabbits are as with ns-3's at 10 Mbps, and mice faster",
        "% from ns-3's, rabbits and elephants, the largest",
        both_tcps,
    ),
    (
        "T10",
        "elephants' mean throughput is stable from the start at 1 Gbps, and needs about 800 s at 10 Mbps",
        "s at 10 Mbps, the latest",
        over_time,
    ),
    (
        "T11",
        "after a failure the source's edge finds another path (section III-D): sooner, with fewer frames lost, than "
        "ECMP's routes that react in 10 ms",
        "us until the other path, the longest",
        other_path,
    ),
)
"""Id, text, unit and rule of each claim, in the order of the paper; no rule if simulation alone is not enough."""
