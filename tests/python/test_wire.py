"""The test vectors of the wire formats, and the page that describes them."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

import tcp_options
import vectors
from captures import library

ROOT = Path(__file__).parents[2]


def test_the_committed_vectors_are_what_the_script_makes():
    assert vectors.OUTPUT.read_text() == vectors.text(), "regenerate them: python3 crates/wire/vectors.py"


def test_every_vector_of_a_group_has_a_name_of_its_own():
    for group, members in vectors.vectors().items():
        names = [member["name"] for member in members]
        assert len(set(names)) == len(names), group


def test_seeds_for_a_fuzzer_are_the_frames(tmp_path):
    vectors.write_seeds(tmp_path / "seeds")
    seeds = {seed.read_bytes().hex() for seed in (tmp_path / "seeds").iterdir()}
    assert {member["frame"] for member in json.loads(vectors.OUTPUT.read_text())["invalid"]} <= seeds


def test_the_committed_openflow_messages_are_what_os_ken_makes():
    pytest.importorskip("os_ken")
    openflow = importlib.import_module("openflow_vectors")
    assert openflow.OUTPUT.read_text() == openflow.text(), "regenerate them: python crates/wire/openflow_vectors.py"


@pytest.mark.parametrize("vector", vectors.vectors()["option"], ids=lambda vector: vector["name"])
def test_an_option_that_is_written_is_read(vector):
    assert tcp_options.read(bytes.fromhex(vector["bytes"])) == [vector["option"]]


@pytest.mark.parametrize("vector", vectors.vectors()["malformed_option"], ids=lambda vector: vector["name"])
def test_a_malformed_option_is_refused(vector):
    with pytest.raises(ValueError, match=r"option|DSS|ADD_ADDR|Multipath TCP"):
        tcp_options.read(bytes.fromhex(vector["bytes"]))


CAPTURES = json.loads(library.OUTPUT.read_text())["captures"]
DRAWN = ("connection", "handshake", "options")


@pytest.mark.parametrize("stored", CAPTURES, ids=lambda capture: capture["name"])
def test_the_conclusions_of_a_capture_follow_from_its_frames(stored):
    frames = [{key: value for key, value in frame.items() if key not in DRAWN} for frame in stored["frames"]]
    assert library.capture(stored["name"], stored["description"], frames, stored["made"]) == stored


def test_the_file_of_captures_is_laid_out_as_it_is_written():
    assert len({capture["name"] for capture in CAPTURES}) == len(CAPTURES)
    lines = library.OUTPUT.read_text().splitlines()[1:]
    assert lines == library.text(CAPTURES).splitlines()[1:]


PAGE = (ROOT / "docs" / "wire-format.md").read_text()
VECTORS_PAGE = (ROOT / "crates" / "wire" / "README.md").read_text()


def test_the_examples_are_vectors():
    dumps = re.findall(r"^```text\n((?:[0-9a-f]{4}  .*\n)+)```$", VECTORS_PAGE, re.M)
    examples = [re.sub(r"^[0-9a-f]{4} |\s", "", dump, flags=re.M) for dump in dumps]
    members = [member for group in vectors.vectors().values() for member in group]
    frames = {member.get(key) for member in members for key in ("frame", "original", "path", "tagged")}
    assert len(examples) == 6
    assert set(examples) <= frames


def test_the_pages_name_every_list_reader_and_reason_of_the_vectors():
    groups = vectors.vectors()
    refused = groups["invalid"]
    named = {*groups, *(member["reader"] for member in refused)}
    reasons = {member["error"]["counter"] for member in refused} - {"ethertype", "protocol"}
    assert [name for name in sorted(named | reasons) if f"`{name}`" not in PAGE + VECTORS_PAGE] == []
