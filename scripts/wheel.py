"""Builds the wheel into target/wheels: package, programs, manual pages, shell completion, sources of plugins.

Zig links against an old glibc, so that one wheel runs on all distributions of the last years: with the version that
the wheels of NumPy and Polars need too, an older one would win nothing. auditwheel then checks all programs. maturin
alone would build only the package.

`wheel.py --here` links against this machine's glibc instead: it reuses the crates of `make build` and `make
emulation`, and the wheel is named for the oldest glibc that auditwheel accepts.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import install_editable
import plugin_sources

ROOT = Path(__file__).resolve().parents[1]
GLIBC = (2, 28)
PROGRAMS = ("weft-switchd", "weftctl", "weft-loadgen", "weft-pktgen")
CRATES = ("-p", "weft-switchd", "-p", "weft-loadgen", "--bins")
TARGET = f"{platform.machine()}-unknown-linux-gnu"
PLATFORM = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def run(*command: str | Path, **more: str) -> str:
    """Run a program of this environment or of PATH; its standard output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | more | {"PATH": path}
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def commit_time() -> str:
    """Seconds since 1970, for the times of all files; 315532800 is 1980, the earliest of a zip file."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "315532800"


def build_portable(folder: Path) -> Path:
    """Build programs and package with Zig, the package as a wheel in `folder`; the directory of the programs."""
    settings = {"CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    target = f"{TARGET}.{GLIBC[0]}.{GLIBC[1]}"
    # In one directory, each of the two would compile again all that the other has compiled.
    programs, package = ({"CARGO_TARGET_DIR": str(BUILT / "wheel" / name)} for name in ("programs", "package"))
    run("cargo-zigbuild", "zigbuild", "--quiet", "--release", "--target", target, *CRATES, **settings, **programs)
    options = ("--release", "--quiet", "--zig", "--target", TARGET, "--compatibility", PLATFORM)
    run("maturin", "build", *options, "--out", folder, **settings, **package)
    return BUILT / "wheel" / "programs" / TARGET / "release"


def build_here(folder: Path) -> Path:
    """Build both with this machine's linker; the wheel's name says no glibc yet."""
    run("cargo", "build", "--quiet", "--release", *CRATES)
    run("maturin", "build", "--release", "--quiet", "--strip", "--compatibility", "linux", "--out", folder)
    return BUILT / "release"


def add_programs(unpacked: Path, built: Path) -> None:
    """Add the programs in `built`, their pages and scripts to an unpacked wheel, for below the prefix of pip."""
    name = next(unpacked.glob("*.dist-info")).name.removesuffix(".dist-info")
    data = unpacked / f"{name}.data"
    (data / "scripts").mkdir(parents=True)
    for program in PROGRAMS:
        run("strip", "-o", data / "scripts" / program, built / program)
    with tempfile.TemporaryDirectory() as folder:
        launcher = Path(folder) / "weft"
        install_editable.write_launcher(launcher)
        programs = [launcher, *((data / "scripts" / program) for program in PROGRAMS)]
        share = data / "data" / "share"
        run("sh", "packaging/pages.sh", share, *programs, PYTHONPATH=str(unpacked), PYTHONDONTWRITEBYTECODE="1")


def check(wheel: Path, *, here: bool) -> Path:
    """Name the wheel for the oldest glibc with which its library and programs run; its path.

    Exits with an error if there is none, or a newer one than `PLATFORM` unless it was built for this machine.
    """
    report = " ".join(run("auditwheel", "show", wheel).split())
    tag = re.search(r'platform tag: "(manylinux_(\d+)_(\d+)_\w+)"', report)
    if tag is None or (not here and (int(tag[2]), int(tag[3])) > GLIBC):
        sys.exit(f"error: {wheel.name} does not run on {PLATFORM}: {report}")
    if not here:
        return wheel
    return wheel.with_name(run("wheel", "tags", "--platform-tag", tag[1], wheel).strip())


def main() -> None:
    """Build, complete and check the wheel; print its path."""
    here = sys.argv[1:] == ["--here"]
    if sys.argv[1:] and not here:
        sys.exit("usage: wheel.py [--here]")
    plugin_sources.copy(ROOT / "python" / "weft" / "sources")
    wheels = BUILT / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wheels) as name:
        folder = Path(name)
        built = build_here(folder) if here else build_portable(folder)
        run("wheel", "unpack", "--dest", folder, next(folder.glob("*.whl")))
        unpacked = next(path for path in folder.iterdir() if path.is_dir())
        add_programs(unpacked, built)
        run("wheel", "pack", "--dest-dir", folder, unpacked, SOURCE_DATE_EPOCH=commit_time())
        made = check(next(folder.glob("*.whl")), here=here)
        print(made.replace(wheels / made.name))


if __name__ == "__main__":
    main()
