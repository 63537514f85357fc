"""Recreates `captures.json`, or prints it (`--show`)."""

from __future__ import annotations

import json
import sys
from typing import Any

from captures import by_hand, scenes
from captures.conclusions import Segment
from captures.library import OUTPUT, Capture, text
from captures.network import enter_jail

FLAGS = "FSRPAUEC"


def make() -> list[Capture]:
    """All captures."""
    kernels = [scene() for scene in scenes.SCENES]
    named = {capture["name"]: capture for capture in kernels}
    reordered = [
        by_hand.early_join(named["three joins by the client"]),
        by_hand.early_join_by_the_server(named["joins by the server"]),
    ]
    return [*kernels, *reordered, by_hand.version_0(), by_hand.colliding_tokens(), by_hand.malformed()]


def show(capture: Capture) -> None:
    """Print a capture, one line per segment."""
    print(f"\n{capture['name']} ({capture['made']})\n{capture['description']}")
    for number, frame in enumerate(capture["frames"]):
        segment = Segment.read(bytes.fromhex(frame["frame"]))
        flags = "".join(letter for bit, letter in enumerate(FLAGS) if segment.flags >> bit & 1)
        ends = " > ".join("{} {}".format(*end) for end in (segment.source, segment.destination))
        lost = " lost" if "lost" in frame else ""
        options = "malformed" if segment.options is None else "; ".join(map(brief, segment.options))
        print(f"{number:3} {frame['at_us'] / 1e3:9.3f} ms  {frame['connection']}  {ends} {flags}{lost}  {options}")


def brief(option: dict[str, Any]) -> str:
    """An option's name and values."""
    return " ".join([option["option"], *(f"{name}={value}" for name, value in list(option.items())[1:] if value)])


if __name__ == "__main__":
    if sys.argv[1:] == ["--show"]:
        for capture in json.loads(OUTPUT.read_text())["captures"]:
            show(capture)
    elif len(sys.argv) == 1:
        enter_jail()
        OUTPUT.write_text(text(make()))
    else:
        sys.exit("usage: python3 -m captures [--show]")
