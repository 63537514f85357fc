"""Names and descriptions of the controller's metrics, by the name of their counter in `show status`.

Names follow https://prometheus.io/docs/practices/naming; all begin with `weft_controller_`, and counters end with
`_total`. Counters that add up to a meaningful sum are one metric with a label, whose values are listed here.
"""

from typing import NamedTuple


class Split(NamedTuple):
    """One metric whose values are several counters, by value of its label."""

    label: str
    text: str
    counters: dict[str, str]


COUNTERS: dict[str, tuple[str, str]] = {
    "packet_ins_received": ("packet_ins", "Packet-ins received from switches, except those with LLDP frames."),
    "packet_ins_copied": ("packet_ins_copied", "Packet-ins that are copies of forwarded frames."),
    "packet_ins_from_switches": ("packet_ins_from_switches", "Packet-ins from ports between switches."),
    "packet_ins_unsettled": ("packet_ins_unsettled", "Packet-ins from ports that are not known to be host ports."),
    "packet_outs": ("packet_outs", "Packet-outs sent to switches."),
    "flow_mods": ("flow_mods", "Rule changes sent to switches."),
    "errors_received": ("errors_received", "OpenFlow errors received from switches."),
    "stations_new": ("stations_learned", "Hosts learned."),
    "stations_moved": ("stations_moved", "Hosts that moved to another port."),
    "claims_disputed": (
        "claims_disputed",
        "Frames received at another port while the location of their host was in doubt.",
    ),
    "neighbours_answered": ("address_requests_answered", "Address requests that the controller answered."),
    "neighbours_passed": ("address_requests_forwarded", "Address requests forwarded to the host that can answer."),
    "neighbours_routed": (
        "address_rules_installed",
        "Rules installed that carry address requests and replies between two hosts.",
    ),
    "neighbours_unrouted": (
        "address_rules_omitted",
        "Address requests and replies left without such a rule, because of a limit or a missing path.",
    ),
    "floods": ("frames_flooded", "Frames flooded to all hosts."),
    "routes_over_budget": (
        "frames_without_route",
        "Frames without a route of their own because of too many unconfirmed rules of their port.",
    ),
    "frames_relayed": ("frames_relayed", "Frames that the controller sent to their host directly."),
    "flows_new": ("flows_opened", "TCP flows that were assigned a path."),
    "flows_plain": ("flows_plain_tcp", "New TCP flows that belong to no MPTCP connection."),
    "flows_renewed": ("flows_renewed", "Flows whose rules were installed again."),
    "flows_moved": ("flows_moved", "Flows moved to another path."),
    "flows_spread": ("flows_spread", "Flows moved off a shared path because another path became available."),
    "flows_cut": ("flows_cut", "Flows that lost their path when no other path existed."),
    "flows_given_up": ("flows_evicted", "Unconfirmed flows evicted to make room for others."),
    "flows_resumed": ("flows_resumed", "Flows taken over from the rules of an earlier controller."),
    "syns_repeated": ("syns_repeated", "TCP SYNs repeated while their flow was being installed."),
    "capable": ("mptcp_connections_opened", "MPTCP connections opened by a host."),
    "established": ("mptcp_connections_established", "MPTCP connections that the listening host accepted."),
    "refused": ("mptcp_connections_refused", "Connections that fell back to plain TCP because a host refused MPTCP."),
    "handshakes_unfinished": ("mptcp_handshakes_unfinished", "MPTCP connections whose handshake timed out."),
    "keys_mismatched": ("mptcp_keys_mismatched", "MPTCP handshakes whose third segment repeats a wrong key."),
    "joins": ("mptcp_joins", "Subflows that joined a known MPTCP connection."),
    "joins_by_listener": ("mptcp_joins_by_listener", "Subflows opened by the listening host."),
    "joins_unknown_token": (
        "mptcp_joins_unknown_token",
        "Subflows with an unknown token, which take the shortest path.",
    ),
    "joins_proven": (
        "mptcp_joins_proven",
        "Subflows from a host other than the connection's, confirmed by their HMAC.",
    ),
    "options_malformed": ("mptcp_options_malformed", "Segments with malformed MPTCP options, treated as plain TCP."),
    "connections_resumed": (
        "mptcp_connections_resumed",
        "MPTCP connections taken over from the rules of an earlier controller.",
    ),
    "paths_labelled": ("paths_labelled", "Paths that were assigned labels."),
    "labels_exhausted": ("labels_exhausted", "Paths that could not be assigned labels."),
    "rules_idle": ("rules_expired", "Rules that reached their idle timeout or that a switch evicted."),
    "rules_stale": ("rules_stale", "Obsolete rules of the controller found in switches."),
    "rules_missing": ("rules_missing", "Rules found missing when a switch connected."),
    "rules_repaired": ("rules_repaired", "Rules found missing in a connected switch and installed again."),
    "foreign_rules": ("rules_foreign", "Rules found in switches that this controller did not install."),
    "cables_up": ("links_found", "Links between switches that came up."),
    "cables_down": ("links_lost", "Links between switches that went down."),
    "lldp_sent": ("lldp_frames_sent", "LLDP frames sent."),
    "lldp_received": ("lldp_frames_accepted", "LLDP frames of this controller that arrived over a link."),
    "switches_taken_over": ("switches_taken_over", "Times that another controller became the master of a switch."),
    "other_controllers": ("other_controllers", "Other controllers whose link discovery was heard."),
    "takeovers": ("takeovers", "Times that this standby controller became the master."),
}
"""Metric and description of each counter that is a metric of its own."""

SPLIT: dict[str, Split] = {
    "drops": Split(
        "reason",
        "Frames and messages that were dropped or ignored, by reason.",
        {
            name: name
            for name in (
                *("addresses_disputed", "addresses_forged", "addresses_limited", "claims_refuted", "floods_limited"),
                *("frames_dropped", "frames_filtered", "frames_relay_limited", "frames_without_path"),
                *("joins_forged", "joins_refused"),
                *("packet_ins_from_nowhere", "packet_ins_over_limit", "packet_outs_without_switch"),
                "stations_refused",
            )
        },
    ),
    "flows_without_rules": Split(
        "reason",
        "Flows that got no rules of their own because their port reached a limit.",
        {"flows": "flows_crowded", "unconfirmed_rules": "flows_over_budget", "rules": "flows_over_rules"},
    ),
    "lldp_frames_ignored": Split(
        "reason",
        "LLDP frames that were ignored, by reason.",
        {
            "over_limit": "lldp_over_limit",
            **{name: f"lldp_{name}" for name in ("malformed", "foreign", "forged", "stale", "returned", "shared")},
        },
    ),
    "transactions": Split(
        "result",
        "Finished transactions, each with the rules of one change, by result.",
        {
            "installed": "transactions_installed",
            "refused": "transactions_refused",
            "late": "transactions_late",
            "switch_gone": "transactions_switch_gone",
        },
    ),
    "connections_refused": Split(
        "reason",
        "Connections of switches that were refused, by reason.",
        {
            "limit": "connections_refused",
            "switches": "switches_refused",
            "tls_handshake": "handshakes_refused",
            "tls": "switches_with_tls",
            "openflow_version": "switches_of_another_version",
            "datapath_id": "datapath_ids_disputed",
        },
    ),
}
"""Metrics with a label."""

GAUGES: dict[str, tuple[str, str]] = {
    "stations_now": ("stations", "Known hosts."),
    "links_now": ("links", "Links between switches, counted once per direction."),
    "differences_now": (
        "differences",
        "Differences between the network and the file of --fabric: missing or unknown switches and links.",
    ),
    "flows_now": ("flows", "TCP flows with a path."),
    "flows_dormant_now": ("flows_dormant", "Flows whose rules have expired but that are still remembered."),
    "connections_now": ("mptcp_connections", "MPTCP connections."),
    "connections_pending_now": ("mptcp_connections_pending", "MPTCP connections whose handshake is not finished."),
    "handshakes_now": ("mptcp_handshakes", "TCP handshakes in progress that may open an MPTCP connection."),
    "paths_now": ("paths", "Paths with labels."),
    "routes_now": ("routes", "Routes between hosts that share the rules of shortest paths."),
    "transactions_now": ("transactions_open", "Transactions that switches have not confirmed yet."),
    "held_frames_now": ("frames_held", "Frames that wait for the rules of their path."),
    "rules_unconfirmed_now": ("rules_unconfirmed", "Rules sent to switches and not confirmed yet."),
    "rules_waiting_now": ("rules_queued", "Rules that wait to be sent because too many are unconfirmed."),
    "memory_bytes_now": ("table_memory_bytes", "Memory of the controller's tables in bytes."),
}
"""Metric and description of each size."""

OMITTED = frozenset(
    (
        # The same events as `packet_ins_received` and `transactions`, counted in another layer.
        *("packet_ins", "installs", "installs_failed", "installs_overdue"),
        # `switches_ready` and `links` come from the connections themselves.
        *("switches_now", "cables_now"),
    )
)
"""Counters that are no metrics."""
