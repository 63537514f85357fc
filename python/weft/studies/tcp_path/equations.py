"""The paper's equations (1) to (3) and its Table 2: the theoretical cost of exploration at a leaf."""

from dataclasses import dataclass

REQUEST_BYTES = 64
"""Length of the request frame, L_B."""
MEAN_FLOW_BYTES = {"web-search": 1.90e6, "data-mining": 2.97e6}
"""Mean flow sizes stated in the paper, L_F."""
ELEPHANT_SHARE = 0.05
"""Share of the flows that TFE explores for."""


def broadcast_bytes(spines: int, leaves: int, request_bytes: float, flows: float) -> float:
    """Equation (1): bytes of flooded requests that a leaf has to process, for `flows` explorations."""
    return spines * (leaves - 1) / leaves * request_bytes * flows


def unicast_bytes(leaves: int, flows: float, flow_bytes: float) -> float:
    """Equation (2): bytes of data that a leaf has to process; every flow passes two leaves."""
    return 2 * flows / leaves * flow_bytes


def ratio(spines: int, leaves: int, request_bytes: float, flow_bytes: float) -> float:
    """Equation (3): (1) divided by (2)."""
    return broadcast_bytes(spines, leaves, request_bytes, 1) / unicast_bytes(leaves, 1, flow_bytes)


@dataclass(frozen=True)
class Cell:
    """An entry of Table 2; shares, not percent."""

    sizes: str
    spines: int
    leaves: int
    tcp_path: float
    tfe: float


def table_2() -> list[Cell]:
    """Table 2 according to the equations."""
    cells = []
    for sizes, flow_bytes in MEAN_FLOW_BYTES.items():
        for n in (4, 16, 64, 128):
            share = ratio(n, n, REQUEST_BYTES, flow_bytes)
            cells.append(Cell(sizes, n, n, share, ELEPHANT_SHARE * share))
    return cells


def implied_mean(spines: int, leaves: int, printed_percent: float) -> float:
    """The mean flow size in bytes for which equation (3) gives a printed ratio of TCP-Path."""
    return spines * (leaves - 1) / 2 * REQUEST_BYTES / (printed_percent / 100)


PRINTED = {
    ("web-search", 4): (0.02, 0.001),
    ("web-search", 16): (0.4, 0.020),
    ("web-search", 64): (6.8, 0.34),
    ("web-search", 128): (27.4, 1.4),
    ("data-mining", 4): (0.014, 0.001),
    ("data-mining", 16): (0.28, 0.014),
    ("data-mining", 64): (4.8, 0.24),
    ("data-mining", 128): (19.3, 0.96),
}
"""Table 2 as printed in the paper, in percent: TCP-Path, TFE."""
