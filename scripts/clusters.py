"""Draws the clusters of GPUs of `docs/fabrics.md`: `make gallery`."""

from pathlib import Path

import weft

PICTURES = Path(__file__).parents[1] / "docs" / "images" / "clusters"
KEYS = {
    "rail-optimised": "pods = 2\nservers_per_pod = 2\ngpus = 4\nspines = 4",
    "rail-only": "servers = 4\ngpus = 4",
    "dual-plane": "leaves = 2\nservers_per_leaf = 2\ngpus = 4\nspines = 2",
    "dual-tor": "spines = 4\nleaves = 4\nhosts_per_leaf = 4\ntors = 2",
    "dual-tor-rails": "pods = 1\nservers_per_pod = 4\ngpus = 2\nspines = 4\ntors = 2",
    "rack-scale": "racks = 2\ngpus = 16\nrails = 4\nspines = 4",
}
"""The keys of each example."""
KINDS = {"dual-tor": "spine-leaf", "dual-tor-rails": "rail-optimised"}
"""The kinds whose examples have other names."""
REST = """
[traffic]
collective = "all-to-all"
bytes = "1 MB"
relay = "pxn"
[scheme]
name = "ecmp"
"""


def drawing(kind: str) -> str:
    """The drawing of an example, as SVG."""
    return (
        weft.Scenario.from_text(f'[fabric]\nkind = "{KINDS.get(kind, kind)}"\n{KEYS[kind]}\n{REST}').fabric().to_svg()
    )


def main() -> None:
    """Write all drawings."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for kind in KEYS:
        (PICTURES / f"{kind}.svg").write_text(drawing(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
