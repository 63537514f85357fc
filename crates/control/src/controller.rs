//! [`Controller`], a central controller without sockets and clocks.

use std::net::IpAddr;

use weft_wire::Mac;

use crate::clock::Time;
use crate::command::Command;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::offences::Offence;
use crate::packet::Packet;
use crate::rule::Rule;

/// What happens in the network goes in, [`Command`]s are added to `out`.
///
/// Times never go back. Nothing that comes from switches and hosts is trusted: what makes no sense is counted
/// and otherwise ignored. Everything is kept in bounded tables.
pub trait Controller {
    /// A switch has connected. `ports` are those that are up, `rules` those that it has; only the controller's own are
    /// looked at, whichever run of it made them.
    fn switch_up(
        &mut self,
        now: Time,
        switch: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    );

    /// A switch that is connected has these rules, of all whose cookies are `slice` (a value, and a mask for it): those
    /// that are missing are put in again. Returns how many were.
    fn rules_read(
        &mut self,
        now: Time,
        switch: SwitchId,
        slice: (u64, u64),
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) -> usize;

    /// The connection to a switch is gone; it may go on forwarding. Its open transactions have failed thereby.
    fn switch_down(&mut self, now: Time, switch: SwitchId, out: &mut Vec<Command>);

    /// Another controller steers a switch that is down, or (`is_left_alone` false) no more.
    fn leave_alone(&mut self, switch: SwitchId, is_left_alone: bool);

    /// A port has come up (or is new), or has gone down (or is no more).
    fn port_changed(&mut self, now: Time, at: SwitchPort, up: bool, out: &mut Vec<Command>);

    /// What left the one port was received at the other. A cable is known when it was seen in both directions.
    fn link_up(&mut self, now: Time, from: SwitchPort, to: SwitchPort, out: &mut Vec<Command>);

    /// Nothing that left the one port is received at the other any more.
    fn link_down(&mut self, now: Time, from: SwitchPort, to: SwitchPort, out: &mut Vec<Command>);

    /// A host is known to be there, without having been heard of.
    fn host_known(
        &mut self,
        now: Time,
        at: SwitchPort,
        mac: Mac,
        addresses: &[IpAddr],
        out: &mut Vec<Command>,
    );

    /// A switch sent a frame up; `cookie` is that of the rule that said so, [`NO_COOKIE`] where none did. The
    /// frame is the controller's until it says [`Command::Forget`].
    fn packet_in(
        &mut self,
        now: Time,
        at: SwitchPort,
        cookie: u64,
        packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    );

    /// All switches of a transaction have confirmed it, and its frames were released.
    fn installed(&mut self, now: Time, transaction: u64, out: &mut Vec<Command>);

    /// A switch has done all that a transaction asked it for, or refused it: in time, or long after the
    /// transaction has failed. Where switches answer, it comes before [`Controller::installed`], which says the
    /// same of all of them.
    fn settled(&mut self, _now: Time, _switch: SwitchId, _transaction: u64) {}

    /// A switch has refused something of a transaction, or is gone.
    fn failed(&mut self, now: Time, transaction: u64, switch: SwitchId, reason: &str, out: &mut Vec<Command>);

    /// A rule with [`crate::Rule::notify_removed`] idled out, or the switch had no room for it any more.
    fn rule_removed(
        &mut self,
        now: Time,
        switch: SwitchId,
        cookie: u64,
        packets: u64,
        bytes: u64,
        out: &mut Vec<Command>,
    );

    /// When [`Controller::on_deadline`] is to be called, [`Time::MAX`] for never. Any other call may change it.
    fn next_deadline(&self) -> Time;

    /// The deadline has come. Calling early does nothing.
    fn on_deadline(&mut self, now: Time, out: &mut Vec<Command>);

    /// Counters since the start and sizes of tables now, by name; the names of sizes end in `_now`.
    fn counters(&self) -> Vec<(&'static str, u64)>;

    /// What hosts did that was stopped, since this was last asked.
    fn offences(&mut self) -> Vec<Offence> {
        Vec::new()
    }

    /// What is known, at most `limit` entries of it.
    fn show(&self, now: Time, what: Show, limit: usize) -> serde_json::Value;
}

/// The cookie of a packet-in that no rule asked for.
pub const NO_COOKIE: u64 = u64::MAX;

/// What can be shown.
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

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.name() == name)
    }
}
