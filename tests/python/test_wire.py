"""The test vectors of the wire formats."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "crates" / "wire" / "vectors.py"

spec = importlib.util.spec_from_file_location("vectors", SCRIPT)
vectors = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vectors)


def test_the_committed_vectors_are_what_the_script_makes():
    assert vectors.OUTPUT.read_text() == vectors.text(), "python3 crates/wire/vectors.py writes them anew"


def test_every_vector_of_a_group_has_a_name_of_its_own():
    for group, members in vectors.vectors().items():
        names = [member["name"] for member in members]
        assert len(set(names)) == len(names), group


def test_seeds_for_a_fuzzer_are_the_frames(tmp_path):
    vectors.write_seeds(tmp_path / "seeds")
    seeds = {seed.read_bytes().hex() for seed in (tmp_path / "seeds").iterdir()}
    assert {member["frame"] for member in json.loads(vectors.OUTPUT.read_text())["invalid"]} <= seeds
