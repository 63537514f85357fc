"""Both Debian packages install with dpkg alone, and their units run under a booted systemd."""

from __future__ import annotations

import re
import subprocess

import bare
import pytest

UNITS = ("weft-controller", "weft-tag-forward")


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> bare.Root:
    """A Debian with both packages."""
    root = bare.make("full", tmp_path_factory.mktemp("deb") / "root")
    for name in ("weft-switchd", "weft"):
        root.give(bare.newest(f"debian/{name}_*.deb", "deb deb-weft"), f"/debs/{name}.deb")
    root.run("dpkg -i /debs/weft-switchd.deb /debs/weft.deb && rm -r /debs")
    return root


def test_the_packages_bring_programs_manual_pages_completion_and_scenarios(packaged):
    for program in ("weft", "weft-switchd", "weftctl", "weft-loadgen", "weft-pktgen"):
        assert "0." in packaged.run(f"{program} --version")
        packaged.run(f"man -w {program} && test -s /usr/share/bash-completion/completions/{program}")
    packaged.run("weft check /usr/share/weft/scenarios/quickstart.toml")
    packaged.run("weft run /usr/share/weft/scenarios/quickstart.toml --seeds 1 -o /tmp/q && weft report /tmp/q")
    typed = "source /usr/share/bash-completion/bash_completion; _completion_loader weftctl; complete -p weftctl"
    assert "-F _weftctl" in packaged.run(f"bash -c '{typed}'")


def test_an_emulation_uses_the_packages_programs(packaged):
    packaged.run(
        "weft emulate /usr/share/weft/scenarios/emulation.toml --set run.duration='\"1 s\"' --seeds 1 -o /tmp/e"
        " && ls /tmp/e/runs"
    )


def test_the_units_of_the_package_are_ones_that_systemd_takes(packaged):
    said = packaged.run(
        "systemd-analyze verify --man=yes weft-controller.service weft-tag-forward.service 2>&1 || true"
    )
    assert [line for line in said.splitlines() if "weft" in line] == []
    for unit in UNITS:
        score = packaged.run(f"systemd-analyze security --offline=yes /usr/lib/systemd/system/{unit}.service || true")
        found = re.search(r"exposure level for \S+: ([\d.]+)", score)
        assert found and float(found[1]) < 2.5, score[-200:]


def booted(root: bare.Root, script: str) -> str:
    """Boot the Debian, run a script as a unit, and power it off; the script's output."""
    (root.path / "etc/systemd/system/check.service").write_text(
        "[Unit]\nAfter=multi-user.target\nSuccessAction=poweroff\nFailureAction=poweroff\n"
        "[Service]\nType=oneshot\nExecStart=/bin/bash /root/check.sh\nTimeoutStartSec=240\n"
        "StandardOutput=truncate:/root/said\nStandardError=append:/root/said\n"
    )
    (root.path / "root/check.sh").write_text(script)
    boot = [
        *("systemd-nspawn", "--quiet", "--directory", root.path, "--boot", "--register=no", "--keep-unit"),
        *("--private-network", "--machine=weft-check", "--console=pipe", "systemd.unit=multi-user.target"),
        "systemd.wants=check.service",
    ]
    console = subprocess.run(boot, capture_output=True, text=True, timeout=400, check=False, stdin=subprocess.DEVNULL)
    said = root.path / "root/said"
    assert said.exists(), console.stdout[-3000:] + console.stderr[-3000:]
    return said.read_text()


def test_the_units_run_the_controller_and_the_provisioning_of_a_fat_tree(packaged):
    script = f"""{bare.AWAIT}
        cp /usr/share/weft/scenarios/tag-forward.toml /etc/weft/fabric.toml
        systemctl start weft-controller.service && echo controller started
        await "weft controller show status"
        weft controller show status
        ss -ltn 2>/dev/null | grep -q 127.0.0.1:6653 && echo listening
        systemctl start weft-tag-forward.service; echo provision started $?
        await "journalctl -o cat -u weft-tag-forward.service | grep 'not respond'"
        systemctl show --property=ActiveState,NRestarts,ExecMainStatus weft-tag-forward.service
        journalctl --no-pager -o cat -u weft-tag-forward.service | tail -5
        systemctl stop weft-controller.service weft-tag-forward.service
        systemctl show --property=Result,ExecMainStatus weft-controller.service
        echo 'OPTIONS="--listen nowhere"' >/etc/default/weft-controller
        systemctl start weft-controller.service
        await "systemctl show --property=ActiveState weft-controller.service | grep failed"
        systemctl show --property=ActiveState,NRestarts,ExecMainStatus weft-controller.service
    """
    said = booted(packaged, script)
    assert "controller started" in said and "listening" in said, said
    assert "smoc" in said, said
    assert "a0 does not respond" in said or "not respond" in said, said
    assert "Result=success" in said, said
    # Exit code 2, and no restart.
    assert re.search(
        r"NRestarts=0\nExecMainStatus=2\nActiveState=failed|ActiveState=failed\nNRestarts=0\nExecMainStatus=2|"
        r"NRestarts=0\nExecMainStatus=2(?s:.*)ActiveState=failed",
        said,
    ), said
