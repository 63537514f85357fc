"""Where a controller spends its time under load: py-spy samples its stack a hundred times a second.

Only the thread holding the GIL is sampled. A sample counts for the deepest frame listed in `PLACES`; the core is
compiled and has no frames, so a line that calls it stands for it. Kernel time is not sampled: it comes from the
process's own accounting.
"""

import linecache
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benches.controller.load import offer, start
from benches.controller.processes import LoadError, load

RATE = 100
PLACES = (
    ("os-ken: parsing and serialising", ("os_ken/ofproto", "os_ken/lib/packet", "os_ken/lib/type_desc")),
    ("os-ken: dispatch and queues", ("os_ken/",)),
    ("shell", ("weft/controller/",)),
    ("event loop", ("asyncio/", "selectors.py", "socketserver")),
    ("threads", ("threading.py", "queue.py")),
)
"""Categories of time, and the parts of a frame's file path that identify them."""


def measure(name: str, fabric: str, connections: int, in_progress: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Shares of a controller's time. Raises `LoadError` if py-spy is not installed, or is not permitted to sample."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    spy = shutil.which("py-spy", path=places)
    if spy is None:
        raise LoadError("py-spy is not installed: pip install py-spy")
    tell(f"profile: {name}")
    with tempfile.TemporaryDirectory() as directory, start(name) as controller:
        stacks = Path(directory) / "stacks"
        looks = [
            "record",
            "--pid",
            str(controller.pid),
            "--rate",
            str(RATE),
            "--format",
            "raw",
            "--full-filenames",
            "--gil",
        ]
        command = [spy, *looks, "--output", str(stacks), "--duration", "unlimited"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as looking:
            try:
                arguments = ["--in-progress", str(in_progress), "--connections", str(connections)]
                report = load(controller, *offer(name, fabric), *arguments)
            finally:
                looking.send_signal(2)
                said = looking.communicate(timeout=60)[0].decode(errors="replace")
        if not stacks.exists():
            raise LoadError(f"py-spy: {said}")
        spent = shares(stacks.read_text())
    used = report["controller"]
    return {
        "per_second": report["per_second"],
        "in_the_kernel": used["system_s"] / (used["user_s"] + used["system_s"]),
        "share_of_a_core": used["share_of_a_core"],
        "python": spent,
    }


def shares(stacks: str) -> dict[str, Any]:
    """Sample shares by category, and the functions with the most samples, from py-spy's raw format."""
    places: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        places[place(frames)] += int(count)
        functions[short(frames[-1])] += int(count)
    whole = sum(places.values())
    return {
        "samples": whole,
        "shares": {name: count / whole for name, count in places.most_common()},
        "functions": {name: count / whole for name, count in functions.most_common(25)},
    }


def place(frames: list[str]) -> str:
    """The category of a stack."""
    if frames and calls_core(frames[-1]):
        return "core"
    for frame in reversed(frames):
        for name, parts in PLACES:
            if any(part in frame for part in parts):
                return name
    return "other"


def calls_core(frame: str) -> bool:
    """Whether a frame, `function (file:line)`, is on a line that calls the core."""
    file, _, line = frame.rpartition(" (")[2].removesuffix(")").rpartition(":")
    return "weft/controller/" in file and line.isdigit() and "core." in linecache.getline(file, int(line))


def short(frame: str) -> str:
    """A frame with its file path shortened to the last two parts."""
    function, _, file = frame.partition(" (")
    return f"{function} ({'/'.join(file.rsplit('/', 2)[-2:])}"
