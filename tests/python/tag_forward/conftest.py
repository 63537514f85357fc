"""A fat-tree with names as in the paper, and daemons for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Daemons, running

from weft.tag_forward import inputs
from weft.tag_forward.fabric import FatTree


def fat_tree(k: int) -> str:
    """A fabric file with switches named as in the paper (es1, as1, cs1), with a router on each core."""
    half = k // 2
    cables = [(f"h{host}", f"es{host // half + 1}") for host in range(k * half * half)]
    for pod in range(k):
        for edge in range(half):
            cables += [(f"es{pod * half + edge + 1}", f"as{pod * half + up + 1}") for up in range(half)]
    for pod in range(k):
        for group in range(half):
            cables += [(f"as{pod * half + group + 1}", f"cs{group * half + core + 1}") for core in range(half)]
    cables += [(f"cs{core + 1}", f"x{core}") for core in range(half * half)]
    names = dict.fromkeys(name for cable in cables for name in cable)
    nodes = [{"id": name, "role": "host" if name[0] in "hx" else "switch"} for name in names]
    edges = [{"source": a, "target": b} for a, b in cables]
    return json.dumps({"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges})


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """The fabric file of a fat-tree of k = 4."""
    path = tmp_path / "fabric.json"
    path.write_text(fat_tree(4))
    return path


@pytest.fixture
def tree(fabric: Path) -> FatTree:
    """That fat-tree with its gates."""
    return FatTree(inputs.plan(fabric, "narrow"))


@pytest.fixture
def daemons(tree: FatTree, tmp_path: Path) -> Iterator[Daemons]:
    """A daemon for each of its switches, on sockets in ``run``."""
    (tmp_path / "run").mkdir()
    with running(tree, tmp_path / "run") as found:
        yield found
