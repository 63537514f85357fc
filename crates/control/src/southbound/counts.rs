//! [`Counts`]: message counters of [`super::Southbound`].

use crate::counters::counters;

counters! { pub Counts:
    /// Packet-ins received, except LLDP.
    packet_ins_received,
    /// Packet-ins above their port's rate limit.
    packet_ins_over_limit,
    /// LLDP frames above their port's rate limit, dropped unread.
    lldp_over_limit,
    /// Rule changes sent.
    flow_mods,
    /// Packet-outs sent.
    packet_outs,
    /// Packet-outs for switches that are not connected.
    packet_outs_without_switch,
    /// Rules that reached their idle timeout or were evicted.
    rules_idle,
    /// Transactions confirmed by all their switches.
    transactions_installed,
    /// Transactions that a switch refused.
    transactions_refused,
    /// Transactions that waited for a disconnected switch.
    transactions_switch_gone,
    /// Transactions not confirmed in time.
    transactions_late,
}
