"""The benchmark's graphs."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, permutations
from pathlib import Path

import networkx

import weft

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """A graph, and the pairs of nodes to find paths for."""

    name: str
    nodes: int
    edges: list[tuple[int, int]]
    pairs: list[tuple[int, int]]

    def networkx(self) -> networkx.Graph:
        """The graph for NetworkX."""
        graph = networkx.Graph()
        graph.add_nodes_from(range(self.nodes))
        graph.add_edges_from(self.edges)
        return graph


def fat_tree(k: int) -> Case:
    """The switches of a fat-tree; pairs of edge switches."""
    fabric = weft.fabric(ROOT / "scenarios" / "quickstart.toml", [f"fabric.k={k}"], measured=False)
    numbers = {node.name: number for number, node in enumerate(fabric.switches)}
    cables = [(link.source, link.target) for link in fabric.links[::2]]
    edges = [(numbers[a], numbers[b]) for a, b in cables if a in numbers and b in numbers]
    ends = [numbers[node.name] for node in fabric.switches if node.tier == 1]
    return Case(f"fat-tree k={k}", len(numbers), edges, list(permutations(ends, 2)))


def drawn(nodes: int, edges: int) -> Case:
    """The first connected random graph of this size, with seeds counting from 1; a thousand pairs."""
    graphs: Iterator[networkx.Graph] = (networkx.gnm_random_graph(nodes, edges, seed=seed) for seed in count(1))
    graph = next(graph for graph in graphs if networkx.is_connected(graph))
    rng = random.Random(1)
    pairs = [(a, b) for a, b in (rng.sample(range(nodes), 2) for _ in range(1000))]
    return Case(f"random, {nodes} nodes, {edges} edges", nodes, sorted(graph.edges()), pairs)
