//! [`Counters`], everything that is counted, by the name under which it is shown.

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// What has happened since the start.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Counters {
            $($(#[doc = $doc])+ pub $name: u64,)*
        }

        impl Counters {
            /// All of them.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// Frames that switches sent up.
    packet_ins,
    /// Those of them that were copies of what was forwarded.
    packet_ins_copied,
    /// Those that came by a port between switches.
    packet_ins_from_switches,
    /// Those that came by a port that is not known to be a host's yet, or no more.
    packet_ins_unsettled,
    /// Those that came from a switch or port that is not known.
    packet_ins_from_nowhere,
    /// Frames of stations that there is no room for, or with addresses that no station may have.
    stations_refused,
    /// Stations that were first heard of.
    stations_new,
    /// Stations that moved to another port.
    stations_moved,
    /// Frames of stations that were heard at another port, while it is not clear where they are.
    claims_disputed,
    /// Claims to be another station, or to have its address, that it has contradicted.
    claims_refuted,
    /// ARP packets and messages of neighbour discovery that were dropped because what they say is another's.
    addresses_disputed,
    /// Addresses that were learned too fast at a port.
    addresses_limited,
    /// ARP packets and Neighbour Advertisements that speak for another station than the one that sent them.
    addresses_forged,
    /// Questions for addresses that the controller answered.
    neighbours_answered,
    /// Questions for addresses that went to the one host that can answer.
    neighbours_passed,
    /// Rules by which hosts tell each other their addresses without the controller.
    neighbours_routed,
    /// Questions and answers that got none because there are too many, or no path.
    neighbours_unrouted,
    /// Frames that went to all hosts.
    floods,
    /// Frames that would have, were there not too many.
    floods_limited,
    /// Frames between stations of one port, and those that no switch forwards.
    frames_filtered,
    /// Frames that the controller sent to their station itself.
    frames_relayed,
    /// Frames that it would have, were there not too many.
    frames_relay_limited,
    /// Frames to stations that no path leads to.
    frames_without_path,
    /// Frames that were not sent because what they waited for has failed, or too many waited.
    frames_dropped,
    /// TCP flows that were given a path.
    flows_new,
    /// Those of them that belong to no connection.
    flows_plain,
    /// Flows whose rules were put in again.
    flows_renewed,
    /// Flows that were given another path.
    flows_moved,
    /// Those of them that shared a path until another one was there again.
    flows_spread,
    /// Flows that lost their path and found no other.
    flows_cut,
    /// Unconfirmed flows that had to make room.
    flows_given_up,
    /// Flows of ports that opened too many, which now go by stations.
    flows_crowded,
    /// Flows that were not given rules because switches had too many of their port's still to confirm.
    flows_over_budget,
    /// Flows that were not given rules because their port's flows have as many as they may.
    flows_over_rules,
    /// Frames without rules of their own because switches had too many of their port's still to confirm.
    routes_over_budget,
    /// SYNs of flows that were being installed.
    syns_repeated,
    /// MPTCP connections that were opened.
    capable,
    /// Those that the listener agreed to.
    established,
    /// Those that listener or initiator refused: plain TCP.
    refused,
    /// Those whose handshake did not end in time.
    handshakes_unfinished,
    /// Third segments that name another key than the listener did.
    keys_mismatched,
    /// Joins to known connections.
    joins,
    /// Those of them that were opened by the listener's side.
    joins_by_listener,
    /// Joins with tokens that nobody has.
    joins_unknown_token,
    /// Joins to connections that have as many subflows as they may.
    joins_refused,
    /// Joins from other stations than the connection's, confirmed by their HMAC.
    joins_proven,
    /// Those whose HMAC was wrong.
    joins_forged,
    /// Options of Multipath TCP that are not what they should be.
    options_malformed,
    /// Transactions that switches confirmed.
    installs,
    /// Transactions that a switch refused.
    installs_failed,
    /// Those among them that a switch did not answer in time.
    installs_overdue,
    /// Paths that were given labels.
    paths_labelled,
    /// Times that a path could not be given labels.
    labels_exhausted,
    /// Rules found in switches that were not the controller's any more.
    rules_stale,
    /// Rules that switches had lost when they connected.
    rules_missing,
    /// Rules that switches had lost since, and were given again.
    rules_repaired,
    /// Flows that were taken over from the rules of another run of the controller.
    flows_resumed,
    /// Connections that were.
    connections_resumed,
    /// Cables that came up.
    cables_up,
    /// Cables that went down.
    cables_down,
    /// Switches refused because there are too many.
    switches_refused,
}
