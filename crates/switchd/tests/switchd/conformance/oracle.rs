//! The state machine on bytes: `weft-wire` parses a frame, `weft-switching` decides, and `weft-wire` writes
//! the resulting frames.

use std::collections::BTreeSet;

use weft_switchd::layout::Port;
use weft_switchd::{Counters, Mode, Reason};
use weft_switching::arp_path::{Flood, FloodKind};
use weft_switching::hello::Way;
use weft_switching::hello_loss::HelloCount;
use weft_switching::tfe::Classifier;
use weft_switching::{Action, Actions, DropReason, Header, Kind, Rewrite, Stream, stream};
use weft_units::{Duration, PortId, Time};
use weft_wire::{
    EtherType, Ethernet, HelloFrame, Mac, PATH_HEADER_LEN, PathHeader, PathType, Tuple, VlanTag, count_hop,
    unwrap,
};

use crate::conformance::frames::wrapped;
use crate::conformance::machine::{Ctx, Machine};
use crate::conformance::membership::memberships;
use crate::conformance::read::read;
use crate::conformance::setting::Setting;

/// The result of processing a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Frames sent.
    pub sent: Vec<(PortId, Vec<u8>)>,
    /// The change of the counters.
    pub counted: Counters,
    /// The actions on frames, by name.
    pub deeds: Vec<&'static str>,
    /// The numbers of explorations started here, in the order drawn.
    pub drawn: Vec<u32>,
}

impl Outcome {
    fn dropped(reason: Reason) -> Self {
        let counted = Counters { dropped: vec![(reason, 1)], ..Counters::default() };
        Self { counted, ..Self::default() }
    }
}

/// A switch.
pub struct Oracle {
    pub switch: Machine,
    pub random: Stream,
    ways: Vec<Way>,
    /// Ports that a Hello makes fabric ports.
    may_be_fabric: Vec<bool>,
    /// When silent neighbours were last checked.
    looked: Time,
    /// Ports that went down, and when they count as dead.
    down: Vec<(PortId, Time)>,
    /// The delay until then.
    patience: Duration,
    /// Whether SYNs are wrapped, unless they would be too long.
    wraps: bool,
}

impl Oracle {
    pub fn new(setting: &Setting) -> Self {
        Self {
            switch: Machine::new(setting),
            random: stream(1, "conformance", 0),
            ways: setting.ways.clone(),
            may_be_fabric: setting.may_be_fabric.clone(),
            looked: Time::ZERO,
            down: Vec::new(),
            patience: setting.config.sweep,
            wraps: match setting.mode {
                Mode::TcpPath => true,
                Mode::Tfe => !matches!(setting.classifier, Classifier::Auto(_)),
                _ => false,
            },
        }
    }

    /// Processes a frame.
    pub fn receive(&mut self, port: PortId, frame: &[u8], now: Time) -> Outcome {
        let fabric = self.switch.base().ports().is_fabric(port, now);
        let header = match read(frame) {
            // A segment too long to be wrapped is forwarded like any other frame.
            Ok(header) if self.wraps && !fabric && opens(&header) && frame.len() + PATH_HEADER_LEN > 1514 => {
                Header { kind: Kind::Other, ..header }
            }
            Ok(header) => header,
            Err(_) if !fabric => {
                return Outcome::dropped(Reason::Switch(DropReason::Untrusted));
            }
            Err(reason) => return Outcome::dropped(Reason::Reader(reason)),
        };
        if header.kind == Kind::Hello {
            return self.on_hello(port, frame, &header, now);
        }
        for message in memberships(frame) {
            self.switch.hear_membership(port, &header, message, now);
        }
        let before = self.started(now);
        let mut out = Actions::default();
        self.switch.receive(&mut Ctx { now, random: &mut self.random }, port, &header, frame, &mut out);
        let started = self.started(now);
        let drawn = started.into_iter().filter(|start| !before.contains(start)).map(|(_, id)| id).collect();
        Outcome { drawn, ..outcome(frame, &out) }
    }

    /// The explorations started here and their drawn numbers; those of one step in the program's drawing order: an
    /// announcement, one for a flow, one for a station.
    fn started(&self, now: Time) -> BTreeSet<(u8, u32)> {
        let here = self.switch.base().floods(now).filter(|(_, port, _)| port.0 == u16::MAX);
        let rank = |flood: &Flood| match flood.kind {
            _ if flood.kind == FloodKind::RecoveryRequest => Some(1),
            _ if flood.ports != [0; 2] => None,
            FloodKind::PathRequest if flood.from == flood.to => Some(0),
            FloodKind::PathRequest | FloodKind::PathFail => Some(2),
            _ => None,
        };
        here.filter_map(|(flood, ..)| Some((rank(&flood)?, flood.id))).collect()
    }

    fn on_hello(&mut self, port: PortId, frame: &[u8], header: &Header, now: Time) -> Outcome {
        if !self.may_be_fabric[port.index()] && header.dst != Mac::BROADCAST {
            return Outcome::dropped(Reason::Switch(DropReason::Untrusted));
        }
        if let Ok(hello) = HelloFrame::parse(frame, EtherType::HELLO).map(|frame| frame.hello()) {
            let mut header = *header;
            if !matches!(self.switch, Machine::Routed(_)) {
                HelloCount { number: hello.number, misses: hello.misses }.write(&mut header);
            }
            let ctx = &mut Ctx { now, random: &mut self.random };
            self.switch.receive(ctx, port, &header, frame, &mut Actions::default());
        }
        let counted = Counters { consumed: 1, ..Counters::default() };
        Outcome { counted, ..Outcome::default() }
    }

    /// A port goes down or comes up.
    pub fn set_up(&mut self, port: PortId, up: bool, now: Time) {
        let ctx = &mut Ctx { now, random: &mut self.random };
        self.switch.port_changed(ctx, port, up, &mut Actions::default());
        self.down.retain(|(down, _)| *down != port);
        if !up {
            self.down.push((port, now + self.patience));
        }
    }

    /// The neighbour of a port does not reach these stations.
    pub fn says(&mut self, port: PortId, unreached: u8) {
        if let Machine::Routed(switch) = &mut self.switch {
            switch.says(port, unreached);
        }
    }

    /// The ports' state, as the daemon would write it for the program.
    pub fn port_entries(&self, now: Time) -> Vec<Port> {
        let ports = self.switch.base().ports();
        let each = (0..).map(PortId).zip(&self.ways).zip(&self.may_be_fabric);
        each.map(|((port, way), may_be_fabric)| Port {
            up: ports.is_up(port).into(),
            way: *way as u8,
            last_resort: ports.is_last_resort(port).into(),
            may_be_fabric: (*may_be_fabric).into(),
            ..Port::decided(ports.is_fabric(port, now), ports.is_host(port, now))
        })
        .collect()
    }

    /// The ports whose flows leave them at `now`, without noting that they do.
    pub fn leaving(&self, now: Time) -> Vec<PortId> {
        self.switch.paths().map_or(Vec::new(), |switch| switch.base().ports().clone().leave(now))
    }

    /// Ports that are newly dead at `now`, without marking them.
    pub fn dead_by(&self, now: Time) -> Vec<PortId> {
        let mut dead = self.switch.base().ports().silent(self.looked, now);
        dead.extend(self.down.iter().filter(|(_, at)| *at <= now).map(|(port, _)| *port));
        dead
    }

    /// Ports that are newly dead.
    fn dead(&mut self, now: Time) -> Vec<PortId> {
        let mut dead = self.switch.base().ports().silent(self.looked, now);
        self.looked = now;
        let (due, later) = self.down.drain(..).partition::<Vec<_>, _>(|(_, at)| *at <= now);
        self.down = later;
        dead.extend(due.into_iter().map(|(port, _)| port));
        dead
    }

    /// Sweeps tables, breaks flows of dead ports, and moves others off lossy ones; returns the dead ports, and the frames sent except Hellos.
    pub fn tend(&mut self, now: Time) -> (Vec<PortId>, Outcome) {
        let dead = self.dead(now);
        let ctx = &mut Ctx { now, random: &mut self.random };
        let (mut out, mut outcome) = (Actions::default(), Outcome::default());
        self.switch.on_deadline(ctx, &mut out);
        for (port, header) in out.emitted().iter().filter(|(_, header)| header.kind != Kind::Hello) {
            outcome.sent.push((*port, own(&[], header)));
            outcome.deeds.push(match header.kind {
                Kind::PathFail => "fail of an idle flow",
                _ => "request for an idle flow",
            });
        }
        (dead, outcome)
    }
}

/// Whether it is a segment that would be wrapped.
fn opens(header: &Header) -> bool {
    header.tcp_flags & (Header::SYN | Header::RST) == Header::SYN
}

/// Applies the actions to the bytes.
fn outcome(frame: &[u8], out: &Actions) -> Outcome {
    let (deed, changed) = match out.rewriting() {
        Rewrite::Keep => ("kept", frame.to_vec()),
        Rewrite::Hop => {
            let mut further = frame.to_vec();
            count_hop(&mut further, EtherType::PATH).expect("it was read");
            ("hop", further)
        }
        Rewrite::Wrap(Kind::PathRequest, id) => {
            ("wrapped in a request", wrapped(frame, PathType::Request, id))
        }
        Rewrite::Wrap(_, id) => ("wrapped in a reply", wrapped(frame, PathType::Reply, id)),
        Rewrite::Unwrap => ("unwrapped", unwrapped(frame).expect("it was read")),
        Rewrite::Mark => ("marked", marked(frame.to_vec())),
        Rewrite::UnwrapAndMark => ("unwrapped and marked", marked(unwrapped(frame).expect("it was read"))),
        Rewrite::Label(_) => panic!("only a central controller's rules have labels"),
        Rewrite::PushTag(..) | Rewrite::PopTag => panic!("only Tag-and-Forward has tags"),
    };
    let is_dropped = out.all().any(|action| matches!(action, Action::Drop(_)));
    let mut outcome = Outcome::default();
    outcome.deeds.push(if is_dropped { "dropped" } else { deed });
    for action in out.all() {
        match action {
            Action::Send(port) => {
                outcome.counted.forwarded = 1;
                outcome.sent.push((port, changed.clone()));
            }
            Action::Deliver(port) => {
                outcome.counted.forwarded = 1;
                outcome.sent.push((port, as_sent(&changed)));
                outcome.deeds.push("delivered as sent");
            }
            Action::Drop(reason) => outcome.counted.dropped.push((Reason::Switch(reason), 1)),
            Action::Consume => outcome.counted.consumed = 1,
            Action::SendWith(..) | Action::Hold(_) | Action::HoldAside(_) => panic!("no mode does this"),
        }
    }
    for (port, header) in out.emitted() {
        outcome.sent.push((*port, own(frame, header)));
        outcome.deeds.push(match (header.kind, header.is_about_flow()) {
            (Kind::PathFail, false) => "fail of a station",
            (Kind::PathFail, true) => "fail of a flow",
            (Kind::PathRequest, _) if header.src == header.dst => "announcement",
            (Kind::PathRequest, _) => "request for a station",
            (Kind::PathReply, _) => "reply of a station",
            (Kind::RecoveryRequest, _) => "request for a flow",
            _ => "reply of a flow",
        });
    }
    outcome
}

/// The frame with the flood mark of a switch that does not know its destination.
fn marked(mut frame: Vec<u8>) -> Vec<u8> {
    frame[6] |= 1;
    frame
}

/// The segment in a Path frame; `None` if it is another frame.
fn unwrapped(frame: &[u8]) -> Option<Vec<u8>> {
    let mut inner = vec![0; frame.len()];
    let len = unwrap(frame, EtherType::PATH, &mut inner).ok()?;
    inner.truncate(len);
    Some(inner)
}

/// The frame as its host sent it.
fn as_sent(frame: &[u8]) -> Vec<u8> {
    let mut plain = frame.to_vec();
    plain[6] &= !1;
    unwrapped(&plain).unwrap_or(plain)
}

/// A frame that the switch itself sends because of `cause`.
fn own(cause: &[u8], header: &Header) -> Vec<u8> {
    let path_type = match header.kind {
        Kind::PathFail => PathType::Fail,
        Kind::PathRequest | Kind::RecoveryRequest => PathType::RecoveryRequest,
        Kind::PathReply | Kind::RecoveryReply => PathType::RecoveryReply,
        kind => panic!("a switch sent a frame of kind {kind:?}"),
    };
    let tuple = Tuple {
        source: header.src,
        source_port: header.sport,
        destination: header.dst,
        destination_port: header.dport,
    };
    let tags: Vec<VlanTag> = Ethernet::parse(cause).map_or(Vec::new(), |ethernet| ethernet.tags().collect());
    let path = PathHeader { path_type, hops: 0, id: header.exploration_id(), tuple };
    let mut frame = [0; 64];
    let len = path.write(&tags, EtherType::PATH, &mut frame).expect("it fits");
    frame[..len].to_vec()
}
