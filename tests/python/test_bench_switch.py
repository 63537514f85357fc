"""The benchmark of the Linux switch: that it runs, and its output except for speed."""

import os
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from benches.ratio import ratios, spread
from quick_bench import ROOT, quick_run

BUILT = [ROOT / "target/release/weft-switchd", ROOT / "target/release/examples/frames"]


def unable() -> str | None:
    """Why the benchmark cannot run on this machine; None if it can."""
    if os.geteuid() != 0:
        return "namespaces and BPF need root"
    missing = [tool for tool in ("unshare", "nsenter", "ping", "tc") if not shutil.which(tool)]
    missing += [str(path) for path in BUILT if not path.exists()]
    return f"missing: {', '.join(missing)} (make bench-switch)" if missing else None


def test_the_interval_of_a_median_has_the_confidence_that_it_states() -> None:
    few, some, many = (spread(list(map(float, values))) for values in ([3, 1, 2], range(6), range(15)))
    assert (few.median, few.low, few.high, few.confidence) == (2.0, 1.0, 3.0, 0.75)
    assert (some.low, some.high, some.confidence) == (0.0, 5.0, 1 - 2 / 64)
    # The 4th lowest and the 4th highest of 15: Conover, Practical Nonparametric Statistics, table A3.
    assert (many.low, many.high) == (3.0, 11.0)
    assert 0.95 <= many.confidence < 0.97


def test_a_ratio_is_taken_round_by_round() -> None:
    assert ratios([1.0, 20.0, 3.0], [2.0, 40.0, 6.0]).max == 0.5


@pytest.mark.long
@pytest.mark.skipif(unable() is not None, reason=str(unable()))
def test_a_quick_run_measures_the_switch_beside_the_bridge_and_leaves_nothing(tmp_path: Path) -> None:
    def left() -> tuple[list[str], str]:
        links = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
        return sorted(path.name for path in Path("/run").glob("netns/*")), links

    before = left()
    arguments = ("forward", "--seconds", "1", "--switches", "bridge,tcp-path")
    document, _ = quick_run(tmp_path, "switch", *arguments)
    assert set(document) == {"machine", "at", "forward"}
    assert set(document["forward"]["noise"]) == {"load_before", "load_after", "stolen_s"}
    kinds = {"TCP with GSO", "60-byte frames, 10 000 flows", "60-byte frames, 100 flows"}
    assert set(document["forward"]["figures"]) == kinds
    for of in document["forward"]["figures"].values():
        assert set(of) == {"bridge", "tcp-path"}
        assert of["bridge"]["ratio"]["median"] == 1
        row = of["tcp-path"]
        assert row["ratio"]["rounds"] == len(row["rounds"]) == 3
        assert row["ratio"]["min"] <= row["ratio"]["low"] <= row["ratio"]["median"] <= row["ratio"]["high"]
        pairs = zip(row["rounds"], of["bridge"]["rounds"], strict=True)
        assert row["ratio"]["median"] == pytest.approx(statistics.median(own / base for own, base in pairs))
    assert left() == before
