//! [`Controller`], a central controller without sockets or a clock.

use std::net::IpAddr;

use weft_wire::Mac;

use crate::clock::Time;
use crate::command::Command;
use crate::cookie::CookieSlice;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::offences::Offence;
use crate::packet::{FlowCount, Packet};
use crate::rule::Rule;

/// Network events go in; [`Command`]s are appended to `out`. By default an event has no effect.
///
/// Times never go back. Nothing from switches and hosts is trusted: invalid input is counted and otherwise
/// ignored. All tables are bounded.
pub trait Controller {
    /// A switch has connected. `ports` are its ports that are up, `rules` its rules; only rules with the controller's
    /// cookies are read, including those of earlier runs.
    fn switch_up(
        &mut self,
        now: Time,
        switch: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    );

    /// The rules of a connected switch whose cookies are in `slice`. Missing rules are installed
    /// again. Returns the number of missing rules.
    fn rules_read(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        _slice: CookieSlice,
        _rules: &[Rule],
        _out: &mut Vec<Command>,
    ) -> usize {
        0
    }

    /// The connection to a switch is lost; it may still forward. Its open transactions have failed.
    fn switch_down(&mut self, _now: Time, _switch: SwitchId, _out: &mut Vec<Command>) {}

    /// A switch that is down is now controlled by another controller, or (`is_left_alone` false) no longer.
    fn leave_alone(&mut self, _switch: SwitchId, _is_left_alone: bool) {}

    /// A port came up (or was added), or went down (or was removed).
    fn port_changed(&mut self, _now: Time, _at: SwitchPort, _up: bool, _out: &mut Vec<Command>) {}

    /// Frames sent on one port arrive at the other, or (`up` false) no longer. A link counts as known once seen in both
    /// directions.
    fn link_changed(
        &mut self,
        _now: Time,
        _from: SwitchPort,
        _to: SwitchPort,
        _up: bool,
        _out: &mut Vec<Command>,
    ) {
    }

    /// A host is known in advance, before it has sent a frame.
    fn host_known(
        &mut self,
        _now: Time,
        _at: SwitchPort,
        _mac: Mac,
        _addresses: &[IpAddr],
        _out: &mut Vec<Command>,
    ) {
    }

    /// A switch sent a packet-in; `cookie` is that of the rule that caused it, [`NO_COOKIE`] if none did. The
    /// controller owns the frame until it returns [`Command::Forget`], by default at once.
    fn packet_in(
        &mut self,
        _now: Time,
        _at: SwitchPort,
        _cookie: u64,
        _packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        out.push(Command::Forget(frame));
    }

    /// All switches of a transaction have confirmed it, and its frames were released.
    fn installed(&mut self, _now: Time, _transaction: u64, _out: &mut Vec<Command>) {}

    /// A switch has finished (or refused) all its changes of a transaction, possibly long after the
    /// transaction failed. If all switches answer, this is called before [`Controller::installed`], which
    /// implies it for every switch.
    fn settled(&mut self, _now: Time, _switch: SwitchId, _transaction: u64) {}

    /// A switch refused a part of a transaction, or disconnected.
    fn failed(
        &mut self,
        _now: Time,
        _transaction: u64,
        _switch: SwitchId,
        _reason: &str,
        _out: &mut Vec<Command>,
    ) {
    }

    /// A rule with [`crate::Rule::notify_removed`] reached its idle timeout or was evicted by the switch.
    fn rule_removed(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        _cookie: u64,
        _packets: u64,
        _bytes: u64,
        _out: &mut Vec<Command>,
    ) {
    }

    /// When to call [`Controller::on_deadline`], [`Time::MAX`] for never. Any other call may change it.
    fn next_deadline(&self) -> Time {
        Time::MAX
    }

    /// The deadline has come. Calling early does nothing.
    fn on_deadline(&mut self, _now: Time, _out: &mut Vec<Command>) {}

    /// The switches that the controller asks for the counts of their hosts' flows, read after each
    /// [`Controller::on_deadline`]. Only simulated switches answer.
    fn counts_wanted(&mut self) -> Vec<SwitchId> {
        Vec::new()
    }

    /// The flows that a switch's hosts have sent since it was last asked, in a fixed order.
    fn flows_counted(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        _counts: &[FlowCount],
        _out: &mut Vec<Command>,
    ) {
    }

    /// Counters since the start, and current table sizes (names ending in `_now`), by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Blocked actions of hosts since the last call.
    fn offences(&mut self) -> Vec<Offence> {
        Vec::new()
    }

    /// The known state, at most `limit` entries.
    fn show(&self, _now: Time, _what: Show, _limit: usize) -> serde_json::Value {
        serde_json::Value::Null
    }
}

/// The cookie of a packet-in that no rule caused.
pub const NO_COOKIE: u64 = u64::MAX;

/// The kinds of state that can be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// MPTCP connections and their subflows.
    Connections,
    /// Paths that have labels.
    Paths,
    /// Switches, their ports, and where they differ from the expected fabric.
    Switches,
    /// Hosts and where they are attached.
    Stations,
}

impl Show {
    /// Everything that can be shown.
    pub const ALL: [Self; 4] = [Self::Connections, Self::Paths, Self::Switches, Self::Stations];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Paths => "paths",
            Self::Switches => "switches",
            Self::Stations => "stations",
        }
    }

    /// The value with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.name() == name)
    }
}
