"""Every counter of the controller is a metric, or deliberately not one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fake import Core, running
from weft._weft import Controller
from weft.catalogue import controller_settings
from weft.controller import status
from weft.controller.metric_names import COUNTERS, GAUGES, OMITTED, SPLIT

NAMED = {*COUNTERS, *GAUGES, *OMITTED, *(counter for split in SPLIT.values() for counter in split.counters.values())}
SOURCES = sorted(Path(status.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("forwarding", controller_settings()["controller"]["kind"]["choice"])
async def test_every_counter_of_the_core_has_a_name_and_a_description(tmp_path, forwarding):
    async with running(tmp_path, forwarding=forwarding) as network:
        network.core.counters = Controller(network.service.settings.for_core()).counters
        counters = status.counters(network.service)
    assert len(counters) > 60
    assert set(counters) - NAMED == set()


def test_every_counter_of_this_package_has_a_name_and_a_description():
    text = "".join(source.read_text(encoding="utf-8") for source in SOURCES)
    own = set(re.findall(r'self\._?counts\["(\w+)"\]', text))
    lldp = {"sent", "received", "foreign", "shared"} | set(re.findall(r'self\._count\("(\w+)"\)', text))
    own -= lldp
    assert len(own) >= 10 and len(lldp) == 8
    assert own | {f"lldp_{name}" for name in lldp} <= NAMED


def test_no_two_counters_have_one_name():
    names = [name for name, _ in (*COUNTERS.values(), *GAUGES.values())] + list(SPLIT)
    assert len(names) == len(set(names))
    assert Core().counters().keys() <= NAMED
