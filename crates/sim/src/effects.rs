//! Carries out the central controller's decisions at switches and hosts.

use weft_control::{FlowCount, SwitchId};
use weft_switching::DropReason;
use weft_switching::smoc::switch_node;
use weft_units::{NodeId, PortId};

use crate::control_message::{Effect, Outgoing};
use crate::hosts::Hosts;
use crate::packet::Bound;
use crate::partition::Partition;
use crate::partition_set::PartitionSet;

/// The flows of a switch's hosts since the controller's last query.
pub fn flow_counts<H: Hosts>(switch: SwitchId, partitions: &PartitionSet<'_, H>) -> Vec<FlowCount> {
    let mut part = partitions.part_of(switch_node(switch));
    let Partition { net, switches, .. } = &mut *part;
    let number = switches.number_of(switch_node(switch));
    number.map_or_else(Vec::new, |number| switches.flow_counts(number, net))
}

/// Carries out the controller's effects at a switch, except for [`Effect::Count`], which has an answer.
pub fn carry_out<H: Hosts>(effect: Effect, partitions: &PartitionSet<'_, H>) {
    let (switch, ports, frame) = match effect {
        Effect::Rule(switch, change) => {
            let mut part = partitions.part_of(switch_node(switch));
            let Partition { net, switches, .. } = &mut *part;
            if let Some(number) = switches.number_of(switch_node(switch)) {
                switches.apply(number, &change, net);
            }
            return;
        }
        Effect::Count(_) => return,
        Effect::Drop(detached) => {
            let mut part = partitions.part(0);
            let net = &mut part.net;
            let packet = net.packets.put(detached);
            let node = NodeId(0);
            net.drop(node, packet, DropReason::NotReleased);
            return;
        }
        Effect::Receive(switch, in_port, frame) => (switch, Err(in_port), frame),
        Effect::Send(switch, ports, frame) => (switch, Ok(ports), frame),
    };
    let node = switch_node(switch);
    let mut part = partitions.part_of(node);
    let Partition { net, switches, .. } = &mut *part;
    let Some(number) = switches.number_of(node) else { return };
    let packet = match frame {
        Outgoing::Held(detached) => net.packets.put(detached),
        Outgoing::Copy(detached) => {
            net.counters.packets_copied += 1;
            net.packets.put(detached)
        }
        Outgoing::Made(header) => {
            net.counters.packets_of_switches += 1;
            net.packets.packet_without_segment(&header)
        }
    };
    net.ports.accounts.record_made(packet, None);
    match ports {
        Ok(ports) => switches.send_out(number, ports.into_iter(), packet, net),
        Err(in_port) => {
            let ingress = in_port.unwrap_or(PortId(u16::MAX));
            switches.receive(number, ingress, Bound::undecided(packet), net);
        }
    }
}
