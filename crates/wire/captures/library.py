"""The format of `captures.json`."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from captures.conclusions import Segment, conclude

OUTPUT = Path(__file__).parent.with_name("captures.json")

Capture = dict[str, Any]
Frame = dict[str, Any]
Scene = Callable[[], Capture]


def capture(name: str, description: str, frames: list[Frame], made: str) -> Capture:
    """Frames (`at_us`, `from`, `path`, `frame`, maybe `lost`) with their content and derived values."""
    raw = [bytes.fromhex(frame["frame"]) for frame in frames]
    conclusions = conclude(raw)
    described = []
    for frame, whole, connection in zip(frames, raw, conclusions.of_frame, strict=True):
        segment = Segment.read(whole)
        handshake = segment.handshake if segment.said is None else segment.said["option"]
        described.append({**frame, "connection": connection, "handshake": handshake, "options": segment.options})
    known = {"name": name, "description": description, "made": made}
    return {**known, "connections": conclusions.connections, "strays": conclusions.strays, "frames": described}


def text(captures: list[Capture]) -> str:
    """The file, with one line per connection and per frame."""

    def block(whole: Capture) -> str:
        values = (
            "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
            if value and isinstance(value, list)
            else json.dumps(value)
            for value in whole.values()
        )
        return "{\n" + ",\n".join(f' "{key}": {value}' for key, value in zip(whole, values, strict=True)) + "\n}"

    release = platform.release().split("-")[0]
    return f'{{"kernel": "Linux {release}", "captures": [\n' + ",\n".join(map(block, captures)) + "\n]}\n"
