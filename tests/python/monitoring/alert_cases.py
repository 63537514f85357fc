"""When each alert fires, and when it does not: time series for `promtool test rules`.

Values of a series are in promtool's notation, one per 15 s: `0x8`: 0, then eight times the same; `0+5x8`: growing by 5.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

TARGETS = {"weft_switchd": ("weft-switchd", "leaf1:19465"), "weft_controller": ("weft-controller", "c1:19466")}
ROLE, HELLOS = 'weft_switchd_port_role{port="eth1",role="%s"}', 'weft_switchd_hellos_refused_total{reason="%s"}'
LOSSY = 'weft_switchd_port_lossy{port="eth1"}'
DROPPED, DROPS = 'weft_switchd_frames_dropped_total{reason="%s"}', 'weft_controller_drops_total{reason="%s"}'
TABLE = {'weft_switchd_table_max_entries{table="hosts"}': "1000x80"}
LEADING = 'weft_controller_leading{instance="%s:19466"}'
BUCKET = 'weft_controller_path_setup_seconds_bucket{le="%s"}'
QUIET: dict[str, str] | None = None


class Case(NamedTuple):
    """Time series, and what must be true of an alert after some time.

    Attributes:
        alert: The alert.
        series: Values by metric; labels `job` and `instance` are added unless given.
        at: When the alert is looked at.
        labels: Its labels beside `job`, `instance` and `severity` if it fires; an empty `instance` removes that label.
            `QUIET`: it does not fire.
        summary: Its rendered summary.
    """

    alert: str
    series: dict[str, str]
    at: str
    labels: dict[str, str] | None = QUIET
    summary: str = ""

    def as_test(self, rule: dict[str, Any]) -> dict[str, Any]:
        """The case as an entry of `tests` in promtool's file."""
        expected = []
        if self.labels is not None:
            job, instance = TARGETS[target(self.alert)]
            labels = {"job": job, "instance": instance, **rule["labels"], **self.labels}
            described = rule["annotations"]["description"].replace("{{ $labels.job }}", job)
            expected = [
                {
                    "exp_labels": {name: value for name, value in labels.items() if value},
                    "exp_annotations": {"summary": self.summary, "description": described},
                }
            ]
        series = [{"series": with_target(name, self.alert), "values": values} for name, values in self.series.items()]
        checked = {"eval_time": self.at, "alertname": self.alert, "exp_alerts": expected}
        return {"interval": "15s", "input_series": series, "alert_rule_test": [checked]}


def target(alert: str) -> str:
    """The program that an alert is about."""
    return "weft_switchd" if alert.startswith("WeftSwitch") else "weft_controller"


def with_target(series: str, alert: str) -> str:
    """A series with the labels that Prometheus adds."""
    name, _, labels = series.rstrip("}").partition("{")
    for label, value in zip(("job", "instance"), TARGETS[target(alert)], strict=True):
        if not re.search(rf"\b{label}=", labels):
            labels = f'{labels},{label}="{value}"'.strip(",")
    return f"{name}{{{labels}}}"


def value_of(series: str) -> str:
    """The value of a series' only label."""
    return series.split('"')[1]


CASES = [
    Case("WeftSwitchDown", {"up": "1 0x8"}, "90s", {}, "The daemon of switch leaf1:19465 does not answer"),
    Case("WeftSwitchDown", {"up": "1 0 0 1x8"}, "2m"),
    Case(
        "WeftSwitchRestarting",
        {"process_start_time_seconds": "1x8 2x8 3x8 4x8"},
        "8m",
        {},
        "The daemon of switch leaf1:19465 restarted 3 times in 15 minutes",
    ),
    Case("WeftSwitchRestarting", {"process_start_time_seconds": "1x8 2x8"}, "4m"),
    Case(
        "WeftSwitchFabricPortDown",
        {'weft_switchd_port_up{port="eth1"}': "1 0x20", ROLE % "fabric": "1 0x20"},
        "3m",
        {"port": "eth1"},
        "Port eth1 of switch leaf1:19465 is down; it led to another switch",
    ),
    Case("WeftSwitchFabricPortDown", {'weft_switchd_port_up{port="eth1"}': "1 0x20", ROLE % "fabric": "0x20"}, "3m"),
    Case(
        "WeftSwitchFabricPortDown",
        {
            'weft_switchd_port_up{port="eth1"}': "1 0x20",
            ROLE % "fabric": "1 0x20",
            'weft_switchd_port_draining{port="eth1"}': "1x20",
        },
        "3m",
    ),
    Case(
        "WeftSwitchNeighbourSilent",
        {ROLE % "silent": "0 1x8"},
        "2m",
        {"port": "eth1", "role": "silent"},
        "Nothing arrives from the switch behind port eth1 of leaf1:19465",
    ),
    Case("WeftSwitchNeighbourSilent", {ROLE % "silent": "0 1 0x8"}, "2m"),
    Case(
        "WeftSwitchNeighbourUnheard",
        {ROLE % "unheard": "1x8"},
        "2m",
        {"port": "eth1", "role": "unheard"},
        "The switch behind port eth1 of leaf1:19465 forwards, but its daemon is silent",
    ),
    Case("WeftSwitchNeighbourUnheard", {ROLE % "fabric": "1x8", ROLE % "unheard": "0x8"}, "2m"),
    Case(
        "WeftSwitchLinkOneWay",
        {ROLE % "one-way": "1x8"},
        "2m",
        {"port": "eth1", "role": "one-way"},
        "The switch behind port eth1 of leaf1:19465 does not hear this one",
    ),
    Case("WeftSwitchLinkOneWay", {ROLE % "one-way": "0x8"}, "2m"),
    Case(
        "WeftSwitchLinkLossy",
        {LOSSY: "0x4 1x20"},
        "4m",
        {"port": "eth1"},
        "5 % or more of the frames to port eth1 of leaf1:19465 are lost",
    ),
    Case("WeftSwitchLinkLossy", {LOSSY: "0x20"}, "4m"),
    Case(
        "WeftSwitchPortLooped",
        {ROLE % "looped": "1x8"},
        "2m",
        {"port": "eth1", "role": "looped"},
        "Port eth1 of switch leaf1:19465 is blocked because it closes a loop",
    ),
    Case("WeftSwitchPortLooped", {ROLE % "looped": "0x8"}, "2m"),
    Case(
        "WeftSwitchLoopFound",
        {"weft_switchd_loops_found_total": "0x4 1x20"},
        "5m",
        {},
        "Switch leaf1:19465 found a loop between host ports",
    ),
    Case("WeftSwitchLoopFound", {"weft_switchd_loops_found_total": "1x100"}, "20m"),
    Case(
        "WeftSwitchLeafUnreachable",
        {"weft_switchd_leaves_without_route": "2x8"},
        "2m",
        {},
        "Switch leaf1:19465 has no route to 2 leaves",
    ),
    Case("WeftSwitchLeafUnreachable", {"weft_switchd_leaves_without_route": "2x2 0x8"}, "3m"),
    Case(
        "WeftSwitchFramesLost",
        {DROPPED % "no_route": "0+150x80", DROPPED % "late_copy": "0+150x80"},
        "15m",
        {"reason": "no_route"},
        "Switch leaf1:19465 drops 10 frames/s (no_route)",
    ),
    Case("WeftSwitchFramesLost", {DROPPED % "no_route": "0x40 9000x40", DROPPED % "late_copy": "0+150x80"}, "20m"),
    Case(
        "WeftSwitchHostFloods",
        {DROPPED % "rate_limited": "0+15x40"},
        "8m",
        {"reason": "rate_limited"},
        "A host of switch leaf1:19465 exceeds its rate limits (1 frames/s dropped)",
    ),
    Case("WeftSwitchHostFloods", {DROPPED % "rate_limited": "7x20"}, "4m"),
    Case(
        "WeftSwitchForgedFrames",
        {DROPPED % "untrusted": "0+15x40"},
        "7m",
        {"reason": "untrusted"},
        "A host of switch leaf1:19465 sends frames that only switches may send",
    ),
    Case(
        "WeftSwitchForgedFrames",
        {"weft_switchd_tagged_frames_from_hosts_total": "0+15x40"},
        "7m",
        {},
        "A host of switch leaf1:19465 sends frames that only switches may send",
    ),
    Case("WeftSwitchForgedFrames", {DROPPED % "untrusted": "3x40"}, "7m"),
    Case(
        "WeftSwitchHellosRefused",
        {HELLOS % "signature": "0+1x40"},
        "8m",
        {"reason": "signature"},
        "Switch leaf1:19465 refuses Hello messages (signature)",
    ),
    Case("WeftSwitchHellosRefused", {HELLOS % "own": "0+1x40", HELLOS % "signature": "0x40"}, "8m"),
    Case(
        "WeftSwitchTableNearlyFull",
        TABLE | {'weft_switchd_table_entries{table="hosts"}': "950x40"},
        "6m",
        {"table": "hosts"},
        "Table `hosts` of switch leaf1:19465 is 95% full",
    ),
    Case("WeftSwitchTableNearlyFull", TABLE | {'weft_switchd_table_entries{table="hosts"}': "900x40"}, "6m"),
    *(
        Case(
            "WeftSwitchDetached",
            {f"weft_switchd_{what}_total": "0x4 1x8"},
            "2m",
            {},
            "Another program removed the data plane of switch leaf1:19465; the daemon restored it",
        )
        for what in ("programs_reattached", "pins_restored")
    ),
    Case("WeftSwitchDetached", {"weft_switchd_programs_reattached_total": "1x80"}, "20m"),
    Case(
        "WeftSwitchNotRestored",
        {"weft_switchd_restore_failures_total": "0+15x20"},
        "3m",
        {},
        "The data plane of switch leaf1:19465 is detached or unpinned and cannot be restored",
    ),
    Case("WeftSwitchNotRestored", {"weft_switchd_restore_failures_total": "0x20"}, "3m"),
    Case(
        "WeftSwitchRulesMissing",
        {'weft_switchd_waiting_frames_total{outcome="expired"}': "0+30x80"},
        "15m",
        {},
        "Switch leaf1:19465 drops 2 frames/s for which it has no rule",
    ),
    Case("WeftSwitchRulesMissing", {'weft_switchd_waiting_frames_total{outcome="sent"}': "0+30x80"}, "15m"),
    Case("WeftControllerDown", {"up": "1 0x8"}, "2m", {}, "Controller c1:19466 does not answer"),
    Case("WeftControllerDown", {"up": "1x8"}, "2m"),
    Case(
        "WeftControllerNoMaster",
        {LEADING % "c1": "_x8", LEADING % "c2": "0x8"},
        "1m",
        {"instance": ""},
        "No running controller of job weft-controller is the master",
    ),
    Case("WeftControllerNoMaster", {LEADING % "c1": "1x8", LEADING % "c2": "0x8"}, "1m"),
    Case(
        "WeftControllerTwoMasters",
        {LEADING % "c1": "1x8", LEADING % "c2": "0 1x8"},
        "2m",
        {"instance": ""},
        "2 controllers of job weft-controller are masters",
    ),
    Case("WeftControllerTwoMasters", {LEADING % "c1": "1x8", LEADING % "c2": "0x8"}, "2m"),
    Case(
        "WeftControllerStandbyLost",
        {LEADING % "c1": "1x40", LEADING % "c2": "0x4 stale _x35"},
        "8m",
        {"instance": ""},
        "A controller of job weft-controller that ran in the last six hours is gone",
    ),
    Case("WeftControllerStandbyLost", {LEADING % "c1": "1x40", LEADING % "c2": "0x40"}, "8m"),
    Case(
        "WeftControllerTookOver",
        {"weft_controller_takeovers_total": "0x4 1x8"},
        "2m",
        {},
        "Standby controller c1:19466 has taken over",
    ),
    Case("WeftControllerTookOver", {"weft_controller_takeovers_total": "1x8"}, "2m"),
    Case(
        "WeftControllerSwitchLost",
        {"weft_controller_switches_ready": "6x4 5x8", LEADING % "c1": "1x16"},
        "3m",
        {},
        "Controller c1:19466 has lost a switch; 5 are left",
    ),
    Case(
        "WeftControllerSwitchLost",
        {"weft_controller_switches_ready": "6x4 0x8", LEADING % "c1": "1x4 0x8"},
        "3m",
    ),
    Case(
        "WeftControllerNetworkDiffers",
        {"weft_controller_differences": "0 2x12"},
        "3m",
        {},
        "The network of controller c1:19466 differs from its --fabric file: 2 differences",
    ),
    Case("WeftControllerNetworkDiffers", {"weft_controller_differences": "0x12"}, "3m"),
    *(
        Case(
            "WeftControllerRulesOutOfStep",
            {f"weft_controller_rules_{what}_total": "0x4 3x8"},
            "2m",
            {},
            "Rules in switches of controller c1:19466 were changed by another program",
        )
        for what in ("repaired", "foreign")
    ),
    Case("WeftControllerRulesOutOfStep", {"weft_controller_rules_repaired_total": "3x8"}, "2m"),
    Case(
        "WeftControllerRulesNotInstalled",
        {'weft_controller_transactions_total{result="late"}': "0+1x40"},
        "7m",
        {"result": "late"},
        "Switches of controller c1:19466 do not install rules: late",
    ),
    Case("WeftControllerRulesNotInstalled", {'weft_controller_transactions_total{result="installed"}': "0+9x40"}, "7m"),
    *(
        Case(
            "WeftControllerPortRateLimited",
            {series: "0+15x20"},
            "3m",
            {"reason": value_of(series)},
            f"A port exceeds a rate limit of controller c1:19466: {value_of(series)}",
        )
        for series in (
            *(DROPS % reason for reason in ("packet_ins_over_limit", "floods_limited", "addresses_limited")),
            'weft_controller_lldp_frames_ignored_total{reason="over_limit"}',
            'weft_controller_flows_without_rules_total{reason="rules"}',
        )
    ),
    Case("WeftControllerPortRateLimited", {DROPS % "frames_filtered": "0+15x20"}, "3m"),
    *(
        Case(
            "WeftControllerForgedMessages",
            {series: "0+15x20"},
            "3m",
            {"reason": value_of(series)},
            f"Controller c1:19466 receives forged messages: {value_of(series)}",
        )
        for series in (
            DROPS % "claims_refuted",
            DROPS % "joins_forged",
            'weft_controller_lldp_frames_ignored_total{reason="forged"}',
        )
    ),
    Case("WeftControllerForgedMessages", {DROPS % "claims_refuted": "2x20"}, "3m"),
    Case(
        "WeftControllerPathsMissing",
        {DROPS % "frames_without_path": "0+30x80"},
        "15m",
        {"reason": "frames_without_path"},
        "Controller c1:19466 has no path for 2 frames/s",
    ),
    Case("WeftControllerPathsMissing", {DROPS % "frames_without_path": "0+1x40"}, "7m"),
    Case(
        "WeftControllerPathSetupSlow",
        {BUCKET % "0.03": "0+90x80", BUCKET % "0.05": "0+100x80", BUCKET % "+Inf": "0+100x80"},
        "15m",
        {},
        "Path setup at controller c1:19466 takes 48ms (99th percentile)",
    ),
    Case(
        "WeftControllerPathSetupSlow",
        {BUCKET % "0.03": "0+100x80", BUCKET % "0.05": "0+100x80", BUCKET % "+Inf": "0+100x80"},
        "15m",
    ),
    Case(
        "WeftControllerSwitchRefused",
        {'weft_controller_connections_refused_total{reason="tls"}': "0+1x40"},
        "7m",
        {"reason": "tls"},
        "Controller c1:19466 refuses a switch: tls",
    ),
    Case("WeftControllerSwitchRefused", {'weft_controller_connections_refused_total{reason="tls"}': "4x40"}, "7m"),
]
