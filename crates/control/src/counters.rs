//! [`Counters`], all event counters by the name under which they are shown.

/// Declares a struct of counters that are listed by name.
macro_rules! counters {
    ($vis:vis $counters:ident: $($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// Event counts since the start.
        #[derive(Clone, Debug, Default)]
        $vis struct $counters {
            $($(#[doc = $doc])+ pub $name: u64,)*
        }

        impl $counters {
            /// All counters with their names.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}
pub(crate) use counters;

counters! { pub(crate) Counters:
    /// Packet-ins received from switches.
    packet_ins,
    /// Packet-ins that are copies of forwarded frames.
    packet_ins_copied,
    /// Packet-ins from ports between switches.
    packet_ins_from_switches,
    /// Packet-ins from ports not yet, or no longer, known to be host ports.
    packet_ins_unsettled,
    /// Packet-ins from unknown switches or ports.
    packet_ins_from_nowhere,
    /// Frames from stations beyond the table limit, or with an invalid source address.
    stations_refused,
    /// Stations learned.
    stations_new,
    /// Stations that moved to another port.
    stations_moved,
    /// Frames seen at another port while a station's location is disputed.
    claims_disputed,
    /// Claims to a station's MAC or IP address that the station contradicted.
    claims_refuted,
    /// ARP and neighbour discovery messages dropped because they claim another station's address.
    addresses_disputed,
    /// Addresses beyond a port's learning rate limit.
    addresses_limited,
    /// ARP packets and Neighbour Advertisements sent on behalf of another station.
    addresses_forged,
    /// Address requests that the controller answered.
    neighbours_answered,
    /// Address requests forwarded to the one host that can answer.
    neighbours_passed,
    /// Rules that carry address requests and replies between hosts without the controller.
    neighbours_routed,
    /// Requests and replies without such a rule, because of a limit or a missing path.
    neighbours_unrouted,
    /// Frames flooded to all hosts.
    floods,
    /// Frames not flooded because of the rate limit.
    floods_limited,
    /// Frames between stations of one port, and link-local frames.
    frames_filtered,
    /// Frames that the controller sent to their station directly.
    frames_relayed,
    /// Frames not relayed because of the rate limit.
    frames_relay_limited,
    /// Frames to stations that no path reaches.
    frames_without_path,
    /// Waiting frames dropped because the install failed or too many waited.
    frames_dropped,
    /// TCP flows assigned a path.
    flows_new,
    /// New flows that belong to no MPTCP connection.
    flows_plain,
    /// Flows whose rules were installed again.
    flows_renewed,
    /// Flows moved to another path.
    flows_moved,
    /// Flows moved off a shared path once another one became available.
    flows_spread,
    /// Flows that lost their path and found no other.
    flows_cut,
    /// Unconfirmed flows evicted to make room.
    flows_given_up,
    /// Flows of ports above their flow limit, now forwarded per station.
    flows_crowded,
    /// Flows without rules because the switches had too many unconfirmed rules of their port.
    flows_over_budget,
    /// Flows without rules because their port's flows reached the rule limit.
    flows_over_rules,
    /// Frames without a route of their own because the switches had too many unconfirmed rules of their port.
    routes_over_budget,
    /// SYNs repeated while their flow was being installed.
    syns_repeated,
    /// MPTCP connections opened.
    capable,
    /// Connections that the listener accepted.
    established,
    /// Connections that the listener or initiator refused: plain TCP.
    refused,
    /// Connections whose handshake timed out.
    handshakes_unfinished,
    /// Third segments with a listener key that differs from the SYN+ACK's.
    keys_mismatched,
    /// Joins to known connections.
    joins,
    /// Joins opened from the listener's side.
    joins_by_listener,
    /// Joins with an unknown token.
    joins_unknown_token,
    /// Joins to connections that reached the subflow limit.
    joins_refused,
    /// Joins from stations other than the connection's, confirmed by their HMAC.
    joins_proven,
    /// Such joins with a wrong HMAC.
    joins_forged,
    /// Malformed Multipath TCP options.
    options_malformed,
    /// Transactions confirmed by all switches.
    installs,
    /// Transactions that failed.
    installs_failed,
    /// Transactions that failed because a switch did not answer in time.
    installs_overdue,
    /// Paths assigned labels.
    paths_labelled,
    /// Failures to assign a path labels.
    labels_exhausted,
    /// Obsolete rules of the controller found in switches.
    rules_stale,
    /// Rules found missing when a switch connected.
    rules_missing,
    /// Rules found missing later and installed again.
    rules_repaired,
    /// Flows taken over from the rules of an earlier controller run.
    flows_resumed,
    /// Connections taken over likewise.
    connections_resumed,
    /// Links that came up.
    cables_up,
    /// Links that went down.
    cables_down,
    /// Switches refused because of the limit.
    switches_refused,
}
