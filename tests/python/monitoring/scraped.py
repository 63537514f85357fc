"""Two daemons, a controller with a switch, and a Prometheus server that scrapes them, for use in a jail.

The daemons differ in mode, so that all metrics exist: only those with gates have rules. They have one link between them
and a host port each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake import Switch
from jails import sh
from prometheus import FILES
from waiting import PATIENCE_S, NeverError, until

API = "http://127.0.0.1:19090/api/v1"
RUN = Path("/run")
TARGETS = {
    "weft-switchd": {"tcp-path": "127.0.0.1:19465", "tag-forward": "127.0.0.1:19467"},
    "weft-controller": {"master": "127.0.0.1:19466"},
}


def start(*command: str) -> subprocess.Popen[bytes]:
    """Start a program; its log is named after it."""
    name = Path(command[0]).name
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=(RUN / f"{name}.log").open("ab"))


def wait(what: str, condition: Callable[[], Any]) -> Any:
    """The first true result of a condition, whose errors mean false."""

    def found() -> Any:
        with contextlib.suppress(OSError):
            return condition()

    return until(what, found, state=lambda: {log.name: log.read_text()[-2000:] for log in RUN.glob("*.log")})


def fetch(url: str) -> str:
    """The text behind an address."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        text: str = answer.read().decode()
    return text


def asked(what: str, **query: str) -> dict[str, Any]:
    """Prometheus's answer; an error is an answer too."""
    try:
        answer: dict[str, Any] = json.loads(fetch(f"{API}/{what}?{urllib.parse.urlencode(query)}"))
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        if not text.startswith("{"):
            # While it starts, it answers in plain text.
            raise
        answer = json.loads(text)
    return answer


def switches(switchd: str) -> None:
    """Start a daemon for each mode."""
    sh("ip link set lo up; ip link add tcp-path1 type veth peer name tag-forward1")
    for mode, address in TARGETS["weft-switchd"].items():
        sh(f"ip link add {mode}0 type veth peer name {mode}h")
        for interface in (f"{mode}0", f"{mode}1", f"{mode}h"):
            sh(f"ip link set {interface} mtu 1520 up")
        text = f'mode = "{mode}"\nports = ["{mode}0", "{mode}1"]\nmetrics = "{address}"\n'
        (RUN / f"{mode}.toml").write_text(text)
        start(switchd, "--config", f"/run/{mode}.toml", "--name", mode, "--run-dir", "/run", "--pin-dir", "/sys/fs/bpf")


def server(prometheus: str) -> None:
    """Start Prometheus with the alert rules."""
    scraped = [
        {"job_name": job, "static_configs": [{"targets": list(targets.values())}]} for job, targets in TARGETS.items()
    ]
    often = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    settings = {"global": often, "rule_files": [str(FILES / "alerts.yml")], "scrape_configs": scraped}
    (RUN / "prometheus.yml").write_text(json.dumps(settings))
    start(
        prometheus,
        *("--config.file=/run/prometheus.yml", "--storage.tsdb.path=/run/tsdb", "--log.level=warn"),
        "--web.listen-address=127.0.0.1:19090",
    )


async def follow(queries: dict[str, str]) -> dict[str, Any]:
    """With a switch at the controller: targets, texts, results of queries, and rules."""
    switch = await Switch(1).connect("127.0.0.1:6653")
    addresses = [address for targets in TARGETS.values() for address in targets.values()]

    def results() -> dict[str, Any]:
        return {name: asked("query", query=query) for name, query in queries.items()}

    def whole() -> bool:
        return all(one.get("status") == "error" or one["data"]["result"] for one in results().values())

    def evaluated() -> list[dict[str, Any]]:
        rules = [rule for group in asked("rules")["data"]["groups"] for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else []

    def find() -> dict[str, Any]:
        try:
            wait("every panel has data", whole)
        except NeverError as error:
            print(error, file=sys.stderr)
        rules = wait("rules are evaluated", evaluated)
        up = asked("query", query="up")["data"]["result"]
        return {
            "up": {one["metric"]["instance"]: one["value"][1] for one in up},
            "texts": {address: fetch(f"http://{address}/metrics") for address in addresses},
            "results": results(),
            "rules": {rule["name"]: rule.get("lastError", "") for rule in rules},
            "ready": [
                one["value"][1] for one in asked("query", query="weft_controller_switches_ready")["data"]["result"]
            ],
        }

    found = await asyncio.to_thread(find)
    await switch.close()
    return found


def seen(prometheus: str, switchd: str, queries: dict[str, str]) -> dict[str, Any]:
    """Everything that the tests look at."""
    switches(switchd)
    controller = TARGETS["weft-controller"]["master"]
    start(sys.executable, "-m", "weft", "controller", "--metrics", controller, "--control", "/run/controller.sock")
    for targets in TARGETS.values():
        for address in targets.values():
            wait(f"metrics at {address}", lambda address=address: fetch(f"http://{address}/metrics"))
    server(prometheus)
    wait("Prometheus answers", lambda: asked("query", query="up").get("status") == "success")
    return asyncio.run(follow(queries))
