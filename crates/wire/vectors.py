"""Makes `vectors.json`: frames of every kind that `weft-wire` parses, with their content or the reason of rejection.

Written from docs/wire-format.md and the RFCs with the Python standard library only, so that two implementations check
each other. Run without arguments to recreate the file, with `--seeds DIR` to write the frames as files for a fuzzer.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import option_vectors
from frame_vectors import Vector, arps, datagrams, neighbors, segments
from headers import ACK, SYN
from invalid_vectors import invalid
from weft_vectors import hellos, paths, probes, signatures, tagged, wraps

OUTPUT = Path(__file__).with_name("vectors.json")


def vectors() -> dict[str, list[Vector]]:
    """The content of the file."""
    frames = segments()
    return {
        "hello": hellos(),
        "probe": probes(),
        "path": paths(),
        "wrap": wraps(frames),
        "tag": tagged(frames),
        "tcp": [{"name": name, "frame": frame.hex(), **fields} for name, (frame, fields) in frames.items()],
        "arp": arps(),
        "neighbor": neighbors(),
        "signature": signatures(),
        "udp": datagrams(),
        "option": option_vectors.options(),
        "malformed_option": option_vectors.malformed_options(),
        "key": option_vectors.keys(),
        "join": option_vectors.joins(),
        "announcement": option_vectors.announcements(),
        "invalid": invalid(frames),
    }


def text() -> str:
    """The file."""
    return json.dumps(vectors(), indent=1) + "\n"


def seeds() -> list[bytes]:
    """Every frame, including those of `captures.json`, and every list of options after a byte of flags."""
    made = []
    for group in vectors().values():
        for vector in group:
            made += [bytes.fromhex(vector[key]) for key in ("frame", "original", "path", "tagged") if key in vector]
            if "bytes" in vector:
                made += [bytes([flags]) + bytes.fromhex(vector["bytes"]) + b"\1\1\1" for flags in (SYN, SYN | ACK, ACK)]
    captures = json.loads(OUTPUT.with_name("captures.json").read_text())["captures"]
    return made + [bytes.fromhex(frame["frame"]) for capture in captures for frame in capture["frames"]]


def write_seeds(directory: Path) -> None:
    """Write every seed to a file named by its hash."""
    directory.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (directory / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seeds"] and len(sys.argv) == 3:
        write_seeds(Path(sys.argv[2]))
    elif len(sys.argv) == 1:
        OUTPUT.write_text(text())
    else:
        sys.exit("usage: vectors.py [--seeds DIR]")
