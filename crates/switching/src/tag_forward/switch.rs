//! [`TagForwardSwitch`]: the decisions of one switch.

use weft_control::RuleChange;
use weft_control::tag_forward::{Addresses, FlowAction, FlowChange, FlowTarget, Way};
use weft_fabric::gates::{GateFlag, SwitchGates};
use weft_units::{PortId, Time};
use weft_wire::{EtherType, Tag, TagWidth};

use super::choice::PathChoice;
use super::flow_error::FlowError;
use super::flow_table::{Entry, FlowTable, Limits};
use super::gate_table::{GateClash, GateTable};
use crate::action::Rewrite;
use crate::smoc::address;
use crate::{Actions, Context, DropReason, Header, Kind, Switch, TableEntries};

/// Counters since the switch started. Dropped frames are counted by [`DropReason`] by the owner of the switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Frames looked up in the flow table: untagged frames with known addresses.
    pub lookups: u64,
    /// Lookups without a matching rule.
    pub misses: u64,
    /// Tags pushed.
    pub pushed: u64,
    /// Tags popped.
    pub popped: u64,
    /// Tagged frames forwarded.
    pub forwarded: u64,
    /// Tagged frames from hosts, dropped ([`DropReason::Untrusted`]).
    pub tags_of_hosts: u64,
}

/// A Tag-and-Forward switch.
#[derive(Clone, Debug)]
pub struct TagForwardSwitch {
    width: TagWidth,
    ethertype: EtherType,
    gates: GateTable,
    flows: FlowTable,
    choice: PathChoice,
    /// Ports that are down.
    down: Vec<bool>,
    counters: Counters,
}

/// The addresses of a simulated frame: those of hosts are given by [`address`].
pub fn addresses(header: &Header) -> Option<Addresses> {
    let (source, destination) = header.source().zip(header.destination())?;
    Some(Addresses { source: address(source), destination: address(destination) })
}

impl TagForwardSwitch {
    /// A switch with these gates and an empty flow table. Tags have the default EtherType of the width.
    ///
    /// # Errors
    /// [`GateClash`].
    pub fn new(
        gates: &SwitchGates,
        width: TagWidth,
        limits: Limits,
        choice: PathChoice,
    ) -> Result<Self, GateClash> {
        Ok(Self {
            width,
            ethertype: width.ethertype(),
            gates: GateTable::new(gates)?,
            flows: FlowTable::new(limits, width),
            choice,
            down: Vec::new(),
            counters: Counters::default(),
        })
    }

    /// This switch with another EtherType for tags.
    pub fn with_ethertype(self, ethertype: EtherType) -> Self {
        Self { ethertype, ..self }
    }

    /// Replaces its gates; rules stay.
    ///
    /// # Errors
    /// [`GateClash`]; the gates are unchanged then.
    pub fn set_gates(&mut self, gates: &SwitchGates) -> Result<(), GateClash> {
        self.gates = GateTable::new(gates)?;
        Ok(())
    }

    /// Its flow table.
    pub const fn flows(&self) -> &FlowTable {
        &self.flows
    }

    /// Changes its flow table.
    ///
    /// # Errors
    /// [`FlowError`]; the table is unchanged then.
    pub fn change(&mut self, change: &FlowChange) -> Result<(), FlowError> {
        self.flows.apply(change)
    }

    /// Rules with their counters, in no particular order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.flows.entries()
    }

    /// Its counters.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// [`Switch::receive`] for a frame with these `addresses`; `None` if it has none.
    #[inline]
    pub fn receive_from<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        addresses: Option<Addresses>,
        out: &mut Actions,
    ) {
        let Some(role) = self.gates.role(ingress) else { return out.drop(DropReason::UnknownPort) };
        let from_host = role.flag.is_some_and(GateFlag::pops);
        match header.tag() {
            Some((ethertype, tag)) if ethertype == self.ethertype => {
                if from_host {
                    // A host must not bypass the rules.
                    self.counters.tags_of_hosts += 1;
                    return out.drop(DropReason::Untrusted);
                }
                self.forward(ingress, role.flag, tag, out);
            }
            _ if header.kind.is_control() => match header.kind {
                _ if from_host => out.drop(DropReason::Untrusted),
                Kind::Hello => out.consume(),
                _ => out.drop(DropReason::Stale),
            },
            _ => self.steer(ctx, ingress, header, addresses, out),
        }
    }

    /// Forwards a tagged frame by the tag's numbers.
    fn forward(&mut self, ingress: PortId, from: Option<GateFlag>, tag: [u8; 6], out: &mut Actions) {
        let Ok(tag) = Tag::from_bytes(tag, self.width) else { return out.drop(DropReason::NoRoute) };
        let Some(port) = self.gates.output(from, &tag) else { return out.drop(DropReason::NoRoute) };
        if let Some(reason) = self.refused(ingress, port) {
            return out.drop(reason);
        }
        self.counters.forwarded += 1;
        if self.pops(port) {
            self.counters.popped += 1;
            out.rewrite(Rewrite::PopTag);
        }
        out.queue(tag.queue);
        out.send(port);
    }

    /// Looks an untagged frame up and tags it.
    fn steer<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        addresses: Option<Addresses>,
        out: &mut Actions,
    ) {
        let Some(addresses) = addresses else { return out.drop(DropReason::NoRoute) };
        self.counters.lookups += 1;
        let Some(action) = self.flows.find(&addresses, header.ip_bytes) else {
            self.counters.misses += 1;
            return out.drop(DropReason::NoRoute);
        };
        let (way, port) = match self.way(ctx, header, action) {
            Ok(chosen) => chosen,
            Err(reason) => return out.drop(reason),
        };
        if let Some(reason) = self.refused(ingress, port) {
            return out.drop(reason);
        }
        if !self.pops(port) {
            let tag = Tag { queue: action.queue, up: way.up, down: action.down };
            let Ok(bytes) = tag.to_bytes(self.width) else { return out.drop(DropReason::NoRoute) };
            self.counters.pushed += 1;
            out.rewrite(Rewrite::PushTag(self.ethertype, bytes));
        }
        out.queue(action.queue);
        out.send(port);
    }

    /// The way of a frame, and its port.
    fn way<C: Context>(
        &self,
        ctx: &mut C,
        header: &Header,
        action: FlowAction,
    ) -> Result<(Way, PortId), DropReason> {
        let ways = match action.to {
            FlowTarget::Way(way) => {
                return self.gates.port(way.gate).map(|port| (way, port)).ok_or(DropReason::NoRoute);
            }
            FlowTarget::Group(id) => self.flows.ways(id),
        };
        let port = |way: &Way| self.gates.port(way.gate).filter(|port| !self.is_down(*port));
        let is_gate = |way: &Way| self.gates.port(way.gate).is_some();
        let chosen = self.choice.choose(ctx, header, ways, port);
        chosen.ok_or_else(|| match ways.iter().any(is_gate) {
            true => DropReason::LinkDown,
            false => DropReason::NoRoute,
        })
    }

    /// Why a frame must not leave by a port.
    #[inline]
    fn refused(&self, ingress: PortId, port: PortId) -> Option<DropReason> {
        match port {
            _ if port == ingress => Some(DropReason::SamePort),
            _ if self.is_down(port) => Some(DropReason::LinkDown),
            _ => None,
        }
    }

    #[inline]
    fn pops(&self, port: PortId) -> bool {
        self.gates.role(port).and_then(|role| role.flag).is_some_and(GateFlag::pops)
    }

    #[inline]
    fn is_down(&self, port: PortId) -> bool {
        self.down.get(port.index()).is_some_and(|down| *down)
    }
}

impl Switch for TagForwardSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        self.receive_from(ctx, ingress, header, addresses(header), out);
    }

    fn port_changed<C: Context>(&mut self, _ctx: &mut C, port: PortId, up: bool, _out: &mut Actions) {
        if self.down.len() <= port.index() {
            self.down.resize(port.index() + 1, false);
        }
        self.down[port.index()] = !up;
    }

    fn apply(&mut self, _now: Time, change: &RuleChange) {
        if let RuleChange::Flow(change) = change {
            // A change that the table rejects leaves it unchanged.
            self.flows.apply(change).ok();
        }
    }

    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries { stations: self.flows.len(), ..TableEntries::default() }
    }
}
