//! The state machine on bytes: adds to `TagForwardSwitch` what all modes have in common, and the mode without tags.

use weft_fabric::gates::{GateFlag, SwitchGates};
use weft_switchd::tags::addresses_of;
use weft_switchd::{Counters, Mode, Reason};
use weft_switching::tag_forward::{FlowChange, FlowError, Limits, PathChoice, TagForwardSwitch};
use weft_switching::{
    Action, Actions, DropReason, Header, Kind, Mac, Rewrite, Stream, Switch, stream, tuple_hash,
};
use weft_units::{PortId, Time};
use weft_wire::{EtherType, Ethernet, TaggedFrame, pop_tag, push_tag};

use super::setting::Setting;
use crate::conformance::machine::Ctx;
use crate::conformance::read;

/// The result of processing a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    pub sent: Vec<(PortId, Vec<u8>)>,
    pub counted: Counters,
    /// The priority of the sent frame.
    pub priority: u32,
    pub deed: &'static str,
}

/// A nonzero key.
pub const HASH_KEY: u64 = 0x5eed;

#[derive(Clone)]
pub struct Machine {
    setting: Setting,
    pub gates: SwitchGates,
    pub switch: TagForwardSwitch,
    pub random: Stream,
}

/// A switch on which all gates are servers' gates neither pushes nor pops tags.
fn without_tags(gates: &SwitchGates) -> SwitchGates {
    let mut gates = gates.clone();
    gates.gates.iter_mut().for_each(|gate| gate.flag = Some(GateFlag::Srv));
    gates
}

impl Machine {
    pub fn new(setting: &Setting) -> Self {
        let choice =
            if setting.tagging.sprays { PathChoice::Spray } else { PathChoice::Ecmp { key: HASH_KEY } };
        let gates = Self::seen(setting, &setting.gates);
        let switch = TagForwardSwitch::new(&gates, setting.tagging.width, Limits::default(), choice);
        let switch = switch.expect("sound gates").with_ethertype(setting.tagging.ethertype);
        let random = stream(1, "tag conformance", 0);
        Self { setting: setting.clone(), gates: setting.gates.clone(), switch, random }
    }

    fn seen(setting: &Setting, gates: &SwitchGates) -> SwitchGates {
        if setting.mode == Mode::TagForward { gates.clone() } else { without_tags(gates) }
    }

    pub fn set_gates(&mut self, gates: &SwitchGates) -> bool {
        let taken = self.switch.set_gates(&Self::seen(&self.setting, gates)).is_ok();
        if taken {
            self.gates = gates.clone();
        }
        taken
    }

    pub fn set_up(&mut self, port: PortId, up: bool) {
        let ctx = &mut Ctx { now: Time::ZERO, random: &mut self.random };
        self.switch.port_changed(ctx, port, up, &mut Actions::default());
    }

    /// Applies all changes or none.
    pub fn change(&mut self, changes: &[FlowChange]) -> Result<(), (usize, Box<FlowError>)> {
        let mut switch = self.switch.clone();
        for (at, change) in changes.iter().enumerate() {
            switch.change(change).map_err(|error| (at, Box::new(error)))?;
        }
        self.switch = switch;
        Ok(())
    }

    fn is_host(&self, port: PortId) -> Option<bool> {
        self.gates.at(port).map(|gate| gate.flag.is_some_and(GateFlag::pops))
    }

    pub fn receive(&mut self, port: PortId, frame: &[u8]) -> Outcome {
        let tagging = self.setting.tagging;
        let address = |at: usize| Mac(frame[at..at + 6].try_into().expect("six bytes"));
        let mut header = Header { dst: address(0), src: address(6), kind: Kind::Other, ..Header::default() };
        let outer = EtherType(u16::from_be_bytes([frame[12], frame[13]]));
        let is_host = self.is_host(port);
        if outer == tagging.ethertype && self.setting.mode == Mode::TagForward {
            if is_host == Some(false)
                && let Err(error) = TaggedFrame::parse(frame, tagging.width, tagging.ethertype)
            {
                return dropped(Reason::Reader(error.counter()));
            }
            let tag = frame.get(14..20).map_or([0; 6], |tag| tag.try_into().expect("six bytes"));
            header.set_tag(outer, tag);
            return self.decide(port, frame, &header);
        }
        let ethertype = Ethernet::parse(frame).map(|ethernet| ethernet.ethertype());
        let control = match ethertype {
            Ok(EtherType::HELLO) => Some(Kind::Hello),
            Ok(EtherType::PATH) => Some(Kind::PathFail),
            _ => None,
        };
        let consumed = || Outcome {
            counted: Counters { consumed: 1, ..Counters::default() },
            deed: "consumed",
            ..Outcome::default()
        };
        match control {
            // Accepted while there are no gates, and on ports that may be fabric ports.
            Some(Kind::Hello) if is_host != Some(true) => {
                let taken = self.setting.may_be_fabric[port.index()] || header.dst == Mac::BROADCAST;
                return if taken { consumed() } else { dropped(Reason::Switch(DropReason::Untrusted)) };
            }
            Some(_) if is_host == Some(false) => return dropped(Reason::Switch(DropReason::Stale)),
            Some(kind) => header.kind = kind,
            None if header.dst.0[..5] == [0x01, 0x80, 0xc2, 0, 0] && header.dst.0[5] < 16 => {
                return consumed();
            }
            None => {}
        }
        let station = |[_, _, a, b, c, d]: [u8; 6]| u32::from_be_bytes([a, b, c, d]);
        let ([sport, dport], protocol, entropy) = read::flow(frame);
        header.flow_hash = tuple_hash(station(header.src.0), station(header.dst.0), sport, dport, protocol);
        header.entropy = entropy;
        header.ip_bytes = addresses_of(frame).map_or(0, |(_, bytes)| bytes);
        self.decide(port, frame, &header)
    }

    fn decide(&mut self, port: PortId, frame: &[u8], header: &Header) -> Outcome {
        let tagging = self.setting.tagging;
        let mut out = Actions::default();
        let addresses =
            if header.tag().is_some() { None } else { addresses_of(frame).map(|(known, _)| known) };
        let ctx = &mut Ctx { now: Time::ZERO, random: &mut self.random };
        self.switch.receive_from(ctx, port, header, addresses, &mut out);
        let mut longer = vec![0; frame.len() + 8];
        let (deed, len) = match out.rewriting() {
            Rewrite::PushTag(ethertype, tag) => {
                let tag = weft_wire::Tag::from_bytes(tag, tagging.width).expect("it was made");
                ("pushed", push_tag(frame, tag, tagging.width, ethertype, &mut longer).expect("it fits"))
            }
            // Popping here would need to remove a VLAN tag at the end of the frame, which the kernel refuses.
            Rewrite::PopTag if frame.len() < 26 && is_vlan([frame[20], frame[21]]) => {
                return dropped(Reason::Reader("no_memory"));
            }
            Rewrite::PopTag => (
                "popped",
                pop_tag(frame, tagging.width, tagging.ethertype, &mut longer).expect("it was read"),
            ),
            _ => {
                longer[..frame.len()].copy_from_slice(frame);
                (if header.tag().is_some() { "forwarded" } else { "kept" }, frame.len())
            }
        };
        longer.truncate(len);
        let action = out.all().next().expect("every frame has an action");
        match action {
            Action::Send(to) => {
                let queued = u32::from(out.queued()) + 1;
                let major = u32::from(tagging.queue_major);
                let priority = if major > 0 { major << 16 | queued } else { 0 };
                let counted = Counters { forwarded: 1, ..Counters::default() };
                Outcome { sent: vec![(to, longer)], counted, priority, deed }
            }
            Action::Drop(reason) => dropped(Reason::Switch(reason)),
            Action::Deliver(_) => panic!("a table has no unknown stations"),
            Action::Consume => panic!("Hellos are consumed before"),
            Action::SendWith(..) | Action::Hold(_) | Action::HoldAside(_) => panic!("not with tags"),
        }
    }
}

fn is_vlan(ethertype: [u8; 2]) -> bool {
    [EtherType::VLAN, EtherType::SERVICE_VLAN].contains(&EtherType(u16::from_be_bytes(ethertype)))
}

fn dropped(reason: Reason) -> Outcome {
    let counted = Counters { dropped: vec![(reason, 1)], ..Counters::default() };
    Outcome { counted, deed: reason.name(), ..Outcome::default() }
}
