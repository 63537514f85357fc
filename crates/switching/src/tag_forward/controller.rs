//! [`Provisioning`]: a [`Provisioner`] as the central controller of a simulated fabric.

use weft_control::tag_forward::{FlowChange, Provisioner};
use weft_control::{Command, Controller, PortNo, Rule, RuleChange, SwitchId, SwitchPort, Time, Transaction};
use weft_fabric::Fabric;
use weft_units::{LinkId, NodeId};

use crate::smoc::{port_id, switch_id};

/// Installs every switch's rules when it connects, and updates them when a link fails or recovers. It knows the links
/// from the fabric, so that it needs no events but those of ports.
pub(super) struct Provisioning {
    provisioner: Provisioner,
    /// Links by node and port.
    links: Vec<Vec<LinkId>>,
    /// Groups changed after link events.
    groups_changed: u64,
}

impl Provisioning {
    pub(super) fn new(fabric: &Fabric, provisioner: Provisioner) -> Self {
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let links = nodes.map(|node| fabric.ports(node).to_vec()).collect();
        Self { provisioner, links, groups_changed: 0 }
    }

    fn link_at(&self, at: SwitchPort) -> Option<LinkId> {
        let node = usize::try_from(at.switch.0.checked_sub(1)?).ok()?;
        self.links.get(node)?.get(port_id(at.port).index()).copied()
    }
}

/// Installs changes; no frames wait for them, since a frame without a rule is dropped.
fn install(changes: impl Iterator<Item = (NodeId, FlowChange)>, out: &mut Vec<Command>) {
    let rules: Vec<_> = changes.map(|(node, change)| (switch_id(node), RuleChange::Flow(change))).collect();
    if !rules.is_empty() {
        out.push(Command::Install(Transaction { id: 0, rules, release: Vec::new() }));
    }
}

impl Controller for Provisioning {
    fn switch_up(
        &mut self,
        _now: Time,
        switch: SwitchId,
        _ports: &[PortNo],
        _rules: &[Rule],
        out: &mut Vec<Command>,
    ) {
        let node = switch.0.checked_sub(1).and_then(|node| u32::try_from(node).ok()).map(NodeId);
        if let Some(node) = node {
            install(self.provisioner.provision(node).into_iter().map(|change| (node, change)), out);
        }
    }

    fn port_changed(&mut self, _now: Time, at: SwitchPort, up: bool, out: &mut Vec<Command>) {
        let changes = self.link_at(at).map(|link| self.provisioner.link_changed(link, up));
        let changes = changes.unwrap_or_default();
        self.groups_changed += changes.len() as u64;
        install(changes.into_iter(), out);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("groups_changed", self.groups_changed)]
    }
}
