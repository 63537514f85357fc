"""What ``make build`` and ``scripts/install-system.sh`` do on machines that are not ready.

apt-get, sudo, curl, pip and maturin are fakes here.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "install-system.sh"
TOOLS = "sh cat cut env find grep head make mkdir mktemp rm sed seq sort touch".split()  # noqa: SIM905
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (apt-get)"


@dataclass(frozen=True)
class Machine:
    """A machine whose PATH holds a few real tools and fakes that log their calls."""

    root: Path

    def has(self, name: str, script: str = "exit 0") -> None:
        """Add a fake program, a shell script."""
        path = self.root / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"{self.root}/log"\n{script}\n')
        path.chmod(0o755)

    def lacks(self, *names: str) -> None:
        """Remove programs."""
        for name in names:
            (self.root / "bin" / name).unlink()

    def install(self, what: str = "build") -> subprocess.CompletedProcess[str]:
        """Run the script."""
        return self.run(["sh", str(SCRIPT), what], self.root)

    def run(self, command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine."""
        return subprocess.run(
            command,
            cwd=directory,
            env={"PATH": str(self.root / "bin"), "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp")},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    @property
    def log(self) -> list[str]:
        """The calls, in order."""
        path = self.root / "log"
        return path.read_text().splitlines() if path.is_file() else []

    def calls(self, name: str) -> list[str]:
        """The calls of one program."""
        return [call for call in self.log if call.split()[0] == name]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """An unprivileged user's machine with a compiler, Python and Rust, where apt-get succeeds at once."""
    for directory in ("bin", "home", "tmp"):
        (tmp_path / directory).mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    machine = Machine(tmp_path)
    machine.has("id", "echo 1000")
    machine.has("cc")
    machine.has("python3")
    machine.has("cargo", "echo cargo 1.99.0")
    machine.has("sudo", 'exec "$@"')
    machine.has("apt-get")
    machine.has("sleep")
    return machine


def test_a_machine_that_has_everything_is_left_alone(machine: Machine) -> None:
    done = machine.install()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.calls("apt-get")


def test_without_sudo_the_error_names_one_root_command_for_all_that_is_missing(machine: Machine) -> None:
    machine.lacks("sudo", "cc", "cargo")
    done = machine.install()
    assert done.returncode == 1
    packages = "gcc libc6-dev curl ca-certificates"
    assert f"these packages are missing: {packages}" in done.stderr
    assert f"  apt-get update && apt-get install --no-install-recommends {packages}\n" in done.stderr
    assert not machine.calls("apt-get")


def test_root_needs_no_sudo(machine: Machine) -> None:
    machine.lacks("cc")
    machine.has("id", "echo 0")
    done = machine.install()
    assert done.returncode == 0, done.stderr
    assert len(machine.calls("apt-get")) == 2
    assert not machine.calls("sudo")


def test_a_lock_of_apt_is_waited_for(machine: Machine) -> None:
    machine.lacks("cc")
    held = f'{machine.root}/released-"$2"'
    machine.has("apt-get", f'[ -e {held} ] || {{ touch {held}; echo "{LOCKED}" >&2; exit 100; }}')
    done = machine.install()
    assert done.returncode == 0, done.stderr
    asked = [call.split()[2] for call in machine.calls("apt-get")]
    assert asked == ["update", "update", "install", "install"]
    assert len(machine.calls("sleep")) == 2
    assert done.stderr.count(LOCKED.replace("E: ", "waiting: ")) == 2


def test_a_lock_that_stays_ends_in_an_error(machine: Machine) -> None:
    machine.lacks("cc")
    machine.has("apt-get", f'echo "{LOCKED}" >&2; exit 100')
    done = machine.install()
    assert done.returncode == 1
    assert LOCKED in done.stderr
    assert len(machine.calls("sleep")) == 240
    assert "error: apt-get could not install: gcc libc6-dev" in done.stderr


def test_an_installation_that_fails_says_why_and_what_root_can_do(machine: Machine) -> None:
    machine.lacks("cc")
    machine.has("apt-get", '[ "$2" = update ] || { echo "E: Unable to fetch some archives" >&2; exit 100; }')
    done = machine.install()
    assert done.returncode == 1
    assert "E: Unable to fetch some archives" in done.stderr
    assert "error: apt-get could not install: gcc libc6-dev" in done.stderr
    assert "apt-get update && apt-get install --no-install-recommends gcc libc6-dev" in done.stderr


def test_without_a_headless_browser_the_full_one_is_installed(machine: Machine) -> None:
    for known, browser in ((1, "chromium"), (0, "chromium-headless-shell")):
        machine.has("apt-cache", f"exit {known}")
        machine.has("groff")
        machine.has("vtysh")
        done = machine.install("test")
        assert (done.returncode, done.stderr) == (0, "")
        assert machine.calls("apt-get")[-1].endswith(f" {browser}")


def test_the_service_of_frr_is_disabled(machine: Machine) -> None:
    for tool in ("groff", "chromium", "systemctl"):
        machine.has(tool)
    machine.has("apt-cache", "exit 1")
    assert machine.install("test").returncode == 0
    assert machine.calls("apt-get")[-1].endswith(" frr")
    assert machine.calls("systemctl") == ["systemctl disable --quiet --now frr"]


def test_of_prometheus_only_the_two_programs_are_installed(machine: Machine) -> None:
    for tool in ("tshark", "systemd-analyze"):
        machine.has(tool)
    machine.has("apt-get", '[ "$2" != download ] || touch prometheus_2.deb')
    machine.has("dpkg-deb")
    machine.has("install")
    done = machine.install("oracles")
    assert done.returncode == 0, done.stderr
    assert [call.split()[2] for call in machine.calls("apt-get")] == ["update", "download"]
    programs = "prometheus/usr/bin/promtool prometheus/usr/bin/prometheus"
    assert machine.calls("install") == [f"install -m 755 {programs} /usr/local/bin"]
    machine.has("dpkg-deb", "exit 2")
    done = machine.install("oracles")
    assert done.returncode == 1
    assert "apt-get install --no-install-recommends prometheus && systemctl disable --now prometheus" in done.stderr


def test_package_lists_that_cannot_be_renewed_may_still_do(machine: Machine) -> None:
    machine.lacks("cc")
    machine.has("apt-get", '[ "$2" = install ] || { echo "E: The repository has no Release file." >&2; exit 100; }')
    done = machine.install()
    assert done.returncode == 0
    assert "has no Release file" in done.stderr


def test_without_apt_the_packages_are_named(machine: Machine) -> None:
    machine.lacks("cc", "apt-get")
    done = machine.install()
    assert done.returncode == 1
    assert "there is no apt-get to install them: gcc libc6-dev" in done.stderr


def test_rust_that_cannot_be_downloaded_is_an_error(machine: Machine) -> None:
    machine.lacks("cargo")
    machine.has("curl", 'echo "curl: (6) Could not resolve host: sh.rustup.rs" >&2; exit 6')
    done = machine.install()
    assert done.returncode == 1
    assert "curl: (6)" in done.stderr
    assert "error: could not download rustup from https://sh.rustup.rs" in done.stderr


@pytest.mark.parametrize(
    ("version", "error"), [("1.99.0", ""), ("1.70.0", "error: Rust 1.89 or newer is required, found cargo 1.70.0")]
)
def test_rust_is_installed_from_the_download(machine: Machine, version: str, error: str) -> None:
    machine.has("cargo", "echo cargo 1.60.0")
    # Writes an installer of this cargo version to the file given by -o.
    cargo = f'printf "#!/bin/sh\\necho cargo {version}\\n" >"$HOME/.cargo/bin/cargo"; chmod +x "$HOME/.cargo/bin/cargo"'
    (machine.root / "bin" / "chmod").symlink_to(str(shutil.which("chmod")))
    machine.has(
        "curl",
        'while [ "$1" != -o ]; do shift; done; cat >"$2" <<\'END\'\n' + f'mkdir -p "$HOME/.cargo/bin"\n{cargo}\nEND',
    )
    done = machine.install()
    assert done.returncode == (1 if error else 0), done.stderr
    assert error in done.stderr
    assert not list((machine.root / "tmp").iterdir())


@pytest.fixture
def clone(machine: Machine) -> Path:
    """A clone of Weft without crates, in a path with spaces; its maturin logs its environment."""
    clone = machine.root / "a path with spaces" / "weft"
    (clone / "scripts").mkdir(parents=True)
    (clone / "crates").mkdir()
    for file in ("Makefile", "scripts/install-system.sh", "pyproject.toml", "Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / file, clone / file)
    pip = machine.root / "bin" / "pip"
    for name in ("cp", "dirname"):
        (machine.root / "bin" / name).symlink_to(str(shutil.which(name)))
    machine.has("pip", 'cp "$(dirname "$0")/../../maturin" "$(dirname "$0")/maturin"')
    machine.has("python3", f'[ "$2" != venv ] || {{ mkdir -p "$3/bin"; cp "{pip}" "$3/bin/pip"; }}')
    maturin = clone / "maturin"
    maturin.write_text(f'#!/bin/sh\necho "maturin in $VIRTUAL_ENV" >>"{machine.root}/log"\n')
    maturin.chmod(0o755)
    return clone


def test_a_clone_in_a_path_with_spaces_is_built(machine: Machine, clone: Path) -> None:
    done = machine.run(["make", "build"], clone)
    assert done.returncode == 0, done.stderr
    assert machine.calls("maturin") == [f"maturin in {clone}/.venv"]


def test_pip_without_a_network_is_an_error_in_words(machine: Machine, clone: Path) -> None:
    machine.has("pip", "exit 1")
    done = machine.run(["make", "build"], clone)
    assert done.returncode == 2
    assert "error: pip could not install maturin: is the network reachable?" in done.stderr
    assert not machine.calls("maturin")
