"""A fat-tree with names as in the paper, and daemons for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Daemons, running

from paper_tree import fat_tree
from weft.tag_forward import inputs
from weft.tag_forward.fabric import FatTree


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """The fabric file of a fat-tree of k = 4."""
    path = tmp_path / "fabric.json"
    path.write_text(fat_tree(4, routers=True))
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
