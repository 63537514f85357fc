//! The program's treatment of a frame once its rule is found (crates/switching/src/tag_forward/switch.rs), for the few
//! frames that waited for the rule in the daemon.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use weft_fabric::gates::{Gate, GateFlag, PortGate, SwitchGates};
use weft_switching::tag_forward::{FlowTable, FlowTarget, Way};
use weft_units::PortId;
use weft_wire::{EtherType, Tag, TagWidth, push_tag};

use super::checksum;
use super::waiting::Frame;

/// A frame to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaving {
    /// The egress port.
    pub port: PortId,
    /// The QID of its rule.
    pub queue: u8,
    /// The frame, with its tag.
    pub bytes: Vec<u8>,
}

/// The forwarding state of a switch.
pub struct Steering<'a> {
    /// Its rules.
    pub table: &'a FlowTable,
    /// Its gates.
    pub gates: &'a SwitchGates,
    /// Whether frames may leave by a port.
    pub carries: &'a dyn Fn(PortId) -> bool,
    /// The format of tags; none in mode `flow-table`.
    pub tags: Option<(TagWidth, EtherType)>,
}

impl Steering<'_> {
    /// Whether there is a rule for a frame.
    pub fn has_rule(&self, frame: &Frame) -> bool {
        self.table.rule_for(&frame.addresses).is_some()
    }

    /// The frame to send; `None` if its rule has no usable way.
    pub fn steer(&self, mut frame: Frame) -> Option<Leaving> {
        let action = self.table.rule_for(&frame.addresses)?.action;
        let one;
        let ways: &[Way] = match action.to {
            FlowTarget::Way(way) => {
                one = [way];
                &one
            }
            FlowTarget::Group(id) => self.table.ways(id),
        };
        // All waiting frames of a pair take the same way, and so stay in order.
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(frame.addresses);
        let at = hash.checked_rem(ways.len() as u64)? as usize;
        let (before, from) = ways.split_at(at);
        let usable = |gate: &&PortGate| gate.port != frame.port && (self.carries)(gate.port);
        let found =
            from.iter().chain(before).find_map(|way| Some((way, self.gate(way.gate).filter(usable)?)));
        let (way, gate) = found?;
        let (port, leaves) = (gate.port, gate.flag.is_some_and(GateFlag::pops));
        checksum::complete(&mut frame.bytes);
        let bytes = match self.tags {
            Some((width, ethertype)) if !leaves => {
                let tag = Tag { queue: action.queue, up: way.up, down: action.down };
                let mut out = vec![0; frame.bytes.len() + weft_wire::TAG_LEN];
                push_tag(&frame.bytes, tag, width, ethertype, &mut out).ok()?;
                out
            }
            _ => frame.bytes,
        };
        Some(Leaving { port, queue: action.queue, bytes })
    }

    fn gate(&self, number: Gate) -> Option<&PortGate> {
        self.gates.gates.iter().find(|gate| gate.gate == number)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use weft_fabric::gates::{Direction, Layer};
    use weft_switching::tag_forward::{
        Addresses, FlowAction, FlowChange, FlowMatch, FlowRule, GroupId, Limits,
    };
    use weft_wire::pop_tag;

    use super::*;

    #[test]
    fn a_frame_takes_a_way_that_works_and_gets_its_tag_where_it_stays_in_the_fabric() {
        let gate = |port, gate, direction, flag| PortGate {
            port: PortId(port),
            gate: Gate(gate),
            direction,
            flag,
            peer: String::new(),
        };
        let gates = SwitchGates {
            switch: "es1".to_owned(),
            layer: Layer::Edge,
            down_divisor: 2,
            up_divisor: 8,
            gates: vec![
                gate(0, 2, Direction::Down, Some(GateFlag::Srv)),
                gate(1, 4, Direction::Down, Some(GateFlag::Srv)),
                gate(2, 56, Direction::Up, None),
                gate(3, 64, Direction::Up, None),
            ],
        };
        let mut table = FlowTable::new(Limits::default(), TagWidth::Narrow);
        let address = |last| Ipv4Addr::new(10, 0, 0, last).into();
        let rule = |last, to| FlowRule {
            priority: 1,
            matches: FlowMatch::to(address(last)),
            action: FlowAction { queue: 3, down: 30, to },
        };
        let way = |gate, up| Way { gate: Gate(gate), up };
        let set = FlowChange::SetGroup { id: GroupId(1), ways: [way(56, 48), way(64, 52)].into() };
        let rules = [rule(2, FlowTarget::Way(way(4, 0))), rule(3, FlowTarget::Group(GroupId(1)))];
        for change in [set, FlowChange::Add(rules[0]), FlowChange::Add(rules[1])] {
            table.apply(&change).unwrap();
        }
        let original = vec![0x55; 60];
        let frame = |last| Frame {
            port: PortId(0),
            addresses: Addresses { source: address(1), destination: address(last) },
            bytes: original.clone(),
        };
        let steer = |frame: Frame, up: &[u16], tags| {
            let carries = |port: PortId| up.contains(&port.0);
            Steering { table: &table, gates: &gates, carries: &carries, tags }.steer(frame)
        };
        let tags = Some((TagWidth::Narrow, EtherType::TAG));
        let beside = steer(frame(2), &[1, 2, 3], tags).unwrap();
        assert_eq!((beside.port, &beside.bytes), (PortId(1), &original));
        for (up, tag) in [(2, Tag { queue: 3, up: 48, down: 30 }), (3, Tag { queue: 3, up: 52, down: 30 })] {
            let leaving = steer(frame(3), &[up], tags).unwrap();
            assert_eq!((leaving.port, leaving.queue), (PortId(up), 3));
            let parsed =
                weft_wire::TaggedFrame::parse(&leaving.bytes, TagWidth::Narrow, EtherType::TAG).unwrap();
            assert_eq!(parsed.tag(), tag);
            let mut popped = vec![0; 60];
            pop_tag(&leaving.bytes, TagWidth::Narrow, EtherType::TAG, &mut popped).unwrap();
            assert_eq!(popped, original);
            assert_eq!(steer(frame(3), &[up], None).unwrap().bytes, original);
        }
        assert_eq!(steer(frame(3), &[], tags), None);
        assert_eq!(steer(frame(9), &[2], tags), None);
        assert_eq!(steer(Frame { port: PortId(1), ..frame(2) }, &[1], tags), None, "not where it came from");
    }
}
