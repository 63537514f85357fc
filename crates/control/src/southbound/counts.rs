//! [`Counts`]: what went through [`super::Southbound`].

macro_rules! counts {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// Since the start.
        #[derive(Clone, Debug, Default)]
        pub struct Counts {
            $($(#[doc = $doc])+ pub $name: u64,)*
        }

        impl Counts {
            /// All of them, by name.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counts! {
    /// Packets that came up, without LLDP.
    packet_ins_received,
    /// Of these, such as were more than their port may send up.
    packet_ins_over_limit,
    /// LLDP frames that were more than their port may send up; nothing of them was read.
    lldp_over_limit,
    /// Changes of rules that were sent.
    flow_mods,
    /// Packets that were sent.
    packet_outs,
    /// Packets and rules for switches that are not there.
    packet_outs_without_switch,
    /// Rules that have idled out.
    rules_idle,
    /// Transactions that all of their switches have confirmed.
    transactions_installed,
    /// Transactions that a switch has refused.
    transactions_refused,
    /// Transactions that waited for a switch that is gone.
    transactions_switch_gone,
    /// Transactions that were not confirmed in time.
    transactions_late,
}
