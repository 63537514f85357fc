"""Builds the wheel into target/wheels: the package, the programs in Rust, manual pages and shell completion.

Zig links against an old glibc, so that one wheel runs on all distributions of the last years: with the version that
the wheels of NumPy and Polars need too, an older one would win nothing. auditwheel then checks all programs. maturin
alone would build only the package.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLIBC = (2, 28)
PROGRAMS = ("weft-switchd", "weftctl", "weft-loadgen", "weft-pktgen")
TARGET = f"{platform.machine()}-unknown-linux-gnu"
PLATFORM = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LAUNCHER = f"""#!{sys.executable}
from weft.cli import main

main()
"""


def run(*command: str | Path, **more: str) -> str:
    """Run a program of this environment or of PATH; its standard output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # Without debug information: half a gigabyte less.
    settings = {"CARGO_PROFILE_RELEASE_DEBUG": "false", "CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    environment = os.environ | settings | more | {"PATH": path}
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def commit_time() -> str:
    """Seconds since 1970, for the times of all files; 315532800 is 1980, the earliest of a zip file."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "315532800"


def add_programs(unpacked: Path) -> None:
    """Add the programs, their pages and scripts to an unpacked wheel, where pip installs them below its prefix."""
    name = next(unpacked.glob("*.dist-info")).name.removesuffix(".dist-info")
    data = unpacked / f"{name}.data"
    (data / "scripts").mkdir(parents=True)
    for program in PROGRAMS:
        shutil.copy(BUILT / TARGET / "release" / program, data / "scripts")
    with tempfile.TemporaryDirectory() as folder:
        launcher = Path(folder) / "weft"
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o755)
        programs = [launcher, *((data / "scripts" / program) for program in PROGRAMS)]
        share = data / "data" / "share"
        run("sh", "packaging/pages.sh", share, *programs, PYTHONPATH=str(unpacked), PYTHONDONTWRITEBYTECODE="1")


def check(wheel: Path) -> None:
    """Exit with an error if a library or program of the wheel needs a newer glibc than its name says."""
    report = " ".join(run("auditwheel", "show", wheel).split())
    tag = re.search(r'platform tag: "manylinux_(\d+)_(\d+)_', report)
    if tag is None or (int(tag[1]), int(tag[2])) > GLIBC:
        sys.exit(f"error: {wheel.name} does not run on {PLATFORM}: {report}")


def main() -> None:
    """Build, complete and check the wheel; print its path."""
    programs = ("-p", "weft-switchd", "-p", "weft-loadgen", "--bins")
    run("cargo-zigbuild", "zigbuild", "--quiet", "--release", "--target", f"{TARGET}.{GLIBC[0]}.{GLIBC[1]}", *programs)
    wheels = BUILT / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheels) as name:
        folder = Path(name)
        options = ("--release", "--quiet", "--zig", "--target", TARGET, "--compatibility", PLATFORM)
        run("maturin", "build", *options, "--out", folder)
        run("wheel", "unpack", "--dest", folder, next(folder.glob("*.whl")))
        unpacked = next(path for path in folder.iterdir() if path.is_dir())
        add_programs(unpacked)
        run("wheel", "pack", "--dest-dir", folder, unpacked, SOURCE_DATE_EPOCH=commit_time())
        made = next(folder.glob("*.whl"))
        check(made)
        print(made.replace(wheels / made.name))


if __name__ == "__main__":
    main()
