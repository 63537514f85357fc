"""The files of the container work: their commands run in network namespaces, without a container engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE_S

FOLDER = Path(__file__).parents[3] / "packaging" / "container"
TOPOLOGY = FOLDER / "ring.clab.yml"
NODE_KEYS = {"kind", "image", "binds", "entrypoint", "cmd", "exec", "env", "labels"}
"""Those of containerlab's schema that are used here."""
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")


def test_the_topology_has_only_keys_of_containerlab_and_files_that_exist():
    lab = yaml.safe_load(TOPOLOGY.read_text())
    assert set(lab) == {"name", "topology"} and set(lab["topology"]) == {"kinds", "defaults", "nodes", "links"}
    nodes = lab["topology"]["nodes"]
    for keys in (*nodes.values(), *lab["topology"]["kinds"].values(), lab["topology"]["defaults"]):
        assert set(keys) <= NODE_KEYS
    for keys in nodes.values():
        for bind in keys.get("binds", []):
            assert (FOLDER / bind.split(":")[0]).is_file(), bind
    ends = [end for link in lab["topology"]["links"] for end in link["endpoints"]]
    assert len(ends) == len(set(ends)), "an interface has one link"
    assert {end.split(":")[0] for end in ends} == set(nodes)


def test_the_dockerfile_copies_what_exists_and_installs_the_package_that_make_deb_builds():
    text = (FOLDER / "Dockerfile").read_text()
    for source in re.findall(r"^COPY (\S+) ", text, re.M):
        if source.endswith(".deb"):
            assert re.fullmatch(r"weft-switchd_\*\.deb", source)
            assert "build weft-switchd <<" in (FOLDER.parent / "deb.sh").read_text()
        else:
            assert os.access(FOLDER / source, os.X_OK), source
    # hadolint has its own lints (`make project`); its syntax is read here too.
    assert re.findall(r"^([A-Z]+) ", text, re.M) == ["FROM", "COPY", "RUN", "COPY", "ENTRYPOINT", "CMD", "HEALTHCHECK"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_switches_of_the_topology_start_and_connect_its_hosts():
    if not (Path(sys.executable).parent / "weft-switchd").exists() or shutil.which("mountpoint") is None:
        pytest.skip("weft-switchd is not installed; run `make emulation`")
    alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    script = f"mount -t tmpfs tmpfs /run && exec {sys.executable} {Path(__file__).parent / 'clab.py'} {TOPOLOGY}"
    done = subprocess.run([*alone, "sh", "-c", script], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    pings = [line for line in found if "from" in line]
    switches = [line for line in found if "switch" in line]
    assert len(pings) == 9 and [line for line in pings if not line["reached"]] == [], found
    assert len(switches) == 3 and [line for line in switches if not line["healthy"]] == [], switches
