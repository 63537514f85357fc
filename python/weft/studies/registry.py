"""All studies. Importing them takes most of a second (Polars, SciPy)."""

from pathlib import Path

from .ai_cluster import AiCluster
from .base import INDEX, Study, read_index
from .collectives import Collectives
from .entropy_spraying import EntropySpraying
from .load_balancing import LoadBalancing
from .packet_spraying import PacketSpraying
from .packet_spraying.emulated import PacketSprayingEmulated
from .roce_load_balancing import RoceLoadBalancing
from .smoc.emulated import SmocEmulated
from .smoc.simulated import Smoc
from .tag_and_forward import TagAndForward
from .tcp_path import TcpPath
from .tcp_path.emulated import TcpPathEmulated
from .uet_validation import UetValidation

ALL: tuple[Study, ...] = (
    AiCluster(),
    Collectives(),
    EntropySpraying(),
    LoadBalancing(),
    PacketSpraying(),
    PacketSprayingEmulated(),
    RoceLoadBalancing(),
    Smoc(),
    SmocEmulated(),
    TagAndForward(),
    TcpPath(),
    TcpPathEmulated(),
    UetValidation(),
)
"""All studies."""


def of_directory(directory: Path) -> Study | None:
    """The study whose results are in a directory, or None."""
    if not (directory / INDEX).is_file():
        return None
    name = read_index(directory).get("study")
    return next((study for study in ALL if study.name == name), None)
