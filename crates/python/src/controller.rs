//! [`Controller`]: the controller's core for Python. Frames come as bytes and commands go as tuples; the frames
//! that wait are kept here.

use std::collections::HashMap;
use std::net::IpAddr;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use weft_control::{
    Command, EXACT, FrameOut, FrameRef, Kind, MadeFrame, Match, Packet, PortNo, Rule, RuleAction, RuleChange,
    Settings, Show, Smoc, SpanningTree, SwitchId, SwitchPort, Transaction,
};
use weft_units::{Duration, Mac, Time};
use weft_wire::{Arp, ArpOperation, MIN_FRAME, MacAddr, Neighbor, NeighborOperation};

type Core = Box<dyn weft_control::Controller + Send + Sync>;

/// See `python/weft/_weft.pyi`.
#[pyclass]
pub struct Controller {
    core: Core,
    /// What the first time was.
    origin: Option<f64>,
    /// What the last time was.
    now: Time,
    frames: HashMap<u64, Py<PyBytes>>,
    last_frame: u64,
}

#[pymethods]
impl Controller {
    #[new]
    fn new(settings: &str) -> PyResult<Self> {
        let wrong = |error: weft_control::SettingsError| PyValueError::new_err(error.to_string());
        let settings = Settings::from_json(settings).map_err(wrong)?;
        let core: Core = match settings.controller {
            Kind::Smoc => Box::new(Smoc::new(settings).map_err(wrong)?),
            Kind::SpanningTree => Box::new(SpanningTree::new(settings).map_err(wrong)?),
        };
        Ok(Self { core, origin: None, now: Time::ZERO, frames: HashMap::new(), last_frame: 0 })
    }

    fn switch_up<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        ports: Vec<u32>,
        cookies: Vec<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ports: Vec<PortNo> = ports.into_iter().map(PortNo).filter(|port| port.is_real()).collect();
        self.tell(py, now, |core, now, out| core.switch_up(now, SwitchId(dpid), &ports, &cookies, out))
    }

    fn switch_down<'py>(&mut self, py: Python<'py>, now: f64, dpid: u64) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |core, now, out| core.switch_down(now, SwitchId(dpid), out))
    }

    fn port_changed<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        port: u32,
        up: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let at = SwitchPort::new(dpid, port);
        self.tell(py, now, |core, now, out| core.port_changed(now, at, up, out))
    }

    fn link_up<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        from_dpid: u64,
        from_port: u32,
        to_dpid: u64,
        to_port: u32,
    ) -> PyResult<Bound<'py, PyList>> {
        let (from, to) = (SwitchPort::new(from_dpid, from_port), SwitchPort::new(to_dpid, to_port));
        self.tell(py, now, |core, now, out| core.link_up(now, from, to, out))
    }

    fn link_down<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        from_dpid: u64,
        from_port: u32,
        to_dpid: u64,
        to_port: u32,
    ) -> PyResult<Bound<'py, PyList>> {
        let (from, to) = (SwitchPort::new(from_dpid, from_port), SwitchPort::new(to_dpid, to_port));
        self.tell(py, now, |core, now, out| core.link_down(now, from, to, out))
    }

    fn packet_in<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        in_port: u32,
        cookie: u64,
        frame: &Bound<'py, PyBytes>,
    ) -> PyResult<Bound<'py, PyList>> {
        let Some(packet) = Packet::read(frame.as_bytes()) else { return Ok(PyList::empty(py)) };
        self.last_frame += 1;
        let number = FrameRef(self.last_frame);
        self.frames.insert(number.0, frame.clone().unbind());
        let at = SwitchPort::new(dpid, in_port);
        self.tell(py, now, |core, now, out| core.packet_in(now, at, cookie, &packet, number, out))
    }

    fn installed<'py>(&mut self, py: Python<'py>, now: f64, id: u64) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |core, now, out| core.installed(now, id, out))
    }

    fn failed<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        id: u64,
        dpid: u64,
        reason: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |core, now, out| core.failed(now, id, SwitchId(dpid), reason, out))
    }

    fn rule_removed<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        cookie: u64,
        packets: u64,
        bytes: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |core, now, out| {
            core.rule_removed(now, SwitchId(dpid), cookie, packets, bytes, out);
        })
    }

    fn next_deadline(&self) -> f64 {
        match (self.core.next_deadline(), self.origin) {
            (Time::MAX, _) | (_, None) => f64::INFINITY,
            // Not a rounding error earlier, and never too early to be met.
            (deadline, Some(origin)) => origin + deadline.as_secs_f64() + 1e-6,
        }
    }

    fn on_deadline<'py>(&mut self, py: Python<'py>, now: f64) -> PyResult<Bound<'py, PyList>> {
        self.tell(py, now, |core, now, out| core.on_deadline(now, out))
    }

    #[pyo3(signature = (what, limit = 1000))]
    fn show(&self, what: &str, limit: usize) -> PyResult<String> {
        let Some(found) = Show::named(what) else {
            let names = Show::ALL.map(Show::name).join(", ");
            return Err(PyValueError::new_err(format!("nothing to show is called {what:?}: {names}")));
        };
        Ok(self.core.show(self.now, found, limit).to_string())
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = PyDict::new(py);
        for (name, count) in self.core.counters() {
            counters.set_item(name, count)?;
        }
        Ok(counters)
    }
}

impl Controller {
    /// Tells the core something, and Python what follows.
    fn tell<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        what: impl FnOnce(&mut Core, Time, &mut Vec<Command>),
    ) -> PyResult<Bound<'py, PyList>> {
        let origin = *self.origin.get_or_insert(now);
        let now = self.now.max(Time::ZERO + Duration::from_secs_f64(now - origin));
        self.now = now;
        let mut commands = Vec::new();
        what(&mut self.core, now, &mut commands);
        let told = PyList::empty(py);
        for command in &commands {
            match command {
                Command::Install(transaction) => told.append(self.install(py, transaction)?)?,
                Command::PacketOut { switch, in_port, ports, frame } => {
                    let ports = PyList::new(py, ports.iter().map(|port| port.0))?;
                    let frame = match frame {
                        FrameOut::Held(frame) => self.frame(py, *frame),
                        FrameOut::Made(made) => PyBytes::new(py, &bytes_of(made)),
                    };
                    let in_port = in_port.map(|port| port.0);
                    told.append((intern!(py, "packet_out"), switch.0, in_port, ports, frame))?;
                }
                Command::Forget(frame) => {
                    self.frames.remove(&frame.0);
                }
            }
        }
        Ok(told)
    }

    fn frame<'py>(&self, py: Python<'py>, frame: FrameRef) -> Bound<'py, PyBytes> {
        let known = self.frames.get(&frame.0);
        known.map_or_else(|| PyBytes::new(py, &[]), |frame| frame.bind(py).clone())
    }

    fn install<'py>(
        &self,
        py: Python<'py>,
        Transaction { id, rules, release }: &Transaction,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let changes = PyList::empty(py);
        for (switch, change) in rules {
            changes.append(change_of(py, *switch, change)?)?;
        }
        let waiting = PyList::empty(py);
        for (at, frame) in release {
            waiting.append((at.switch.0, at.port.0, self.frame(py, *frame)))?;
        }
        (intern!(py, "install"), *id, changes, waiting).into_pyobject(py)
    }
}

fn change_of<'py>(py: Python<'py>, switch: SwitchId, change: &RuleChange) -> PyResult<Bound<'py, PyTuple>> {
    let (op, rule) = match change {
        RuleChange::Add(rule) => (intern!(py, "add"), rule),
        RuleChange::Modify(rule) => (intern!(py, "modify"), rule),
        RuleChange::Remove { cookie, matches } => {
            let (matches, actions) = (match_of(py, matches)?, PyTuple::empty(py));
            let op = intern!(py, "remove");
            return (switch.0, op, *cookie, 0_u16, matches, actions, 0_u16, false).into_pyobject(py);
        }
    };
    let Rule { cookie, priority, matches, actions, idle_timeout_s, notify_removed } = rule;
    let steps = PyList::empty(py);
    for action in actions {
        steps.append(match action {
            RuleAction::SetDestination(mac) => {
                (intern!(py, "set_eth_dst"), mac.to_string()).into_pyobject(py)?
            }
            RuleAction::Output(port) => (intern!(py, "output"), port.0).into_pyobject(py)?,
            RuleAction::Controller { max_len } => (intern!(py, "controller"), *max_len).into_pyobject(py)?,
        })?;
    }
    let (matches, steps) = (match_of(py, matches)?, steps.to_tuple());
    (switch.0, op, *cookie, *priority, matches, steps, *idle_timeout_s, *notify_removed).into_pyobject(py)
}

fn match_of<'py>(py: Python<'py>, matches: &Match) -> PyResult<Bound<'py, PyTuple>> {
    let fields = PyList::empty(py);
    if let Some(port) = matches.in_port {
        fields.append((intern!(py, "in_port"), port.0))?;
    }
    match matches.eth_dst {
        Some((mac, EXACT)) => fields.append((intern!(py, "eth_dst"), mac.to_string()))?,
        Some((mac, mask)) => {
            fields.append((intern!(py, "eth_dst"), (mac.to_string(), mask.to_string())))?;
        }
        None => {}
    }
    if let Some(mac) = matches.eth_src {
        fields.append((intern!(py, "eth_src"), mac.to_string()))?;
    }
    if let Some(eth_type) = matches.eth_type {
        fields.append((intern!(py, "eth_type"), eth_type))?;
    }
    if let Some(protocol) = matches.ip_proto {
        fields.append((intern!(py, "ip_proto"), protocol))?;
    }
    for (address, four, six) in [
        (matches.ip_src, intern!(py, "ipv4_src"), intern!(py, "ipv6_src")),
        (matches.ip_dst, intern!(py, "ipv4_dst"), intern!(py, "ipv6_dst")),
    ] {
        match address {
            Some(IpAddr::V4(address)) => fields.append((four, address.to_string()))?,
            Some(IpAddr::V6(address)) => fields.append((six, address.to_string()))?,
            None => {}
        }
    }
    for (port, name) in [(matches.tcp_src, intern!(py, "tcp_src")), (matches.tcp_dst, intern!(py, "tcp_dst"))]
    {
        if let Some(port) = port {
            fields.append((name, port))?;
        }
    }
    if let Some(kind) = matches.icmpv6_type {
        fields.append((intern!(py, "icmpv6_type"), kind))?;
    }
    Ok(fields.to_tuple())
}

/// The bytes of a frame of the controller's own.
fn bytes_of(made: &MadeFrame) -> Vec<u8> {
    let mac = |mac: Mac| MacAddr(mac.0);
    let own = mac(MadeFrame::CONTROLLER);
    let padded = |frame: &[u8]| {
        let mut frame = frame.to_vec();
        frame.resize(frame.len().max(MIN_FRAME), 0);
        frame
    };
    match *made {
        MadeFrame::ArpReply { sender, target } => {
            let (sender, target) = ((mac(sender.0), sender.1), (mac(target.0), target.1));
            padded(&Arp::frame(ArpOperation::Reply, target.0, sender, target))
        }
        MadeFrame::ArpProbe { station, target } => {
            let (sender, target) = ((own, [0; 4].into()), (MacAddr::default(), target));
            padded(&Arp::frame(ArpOperation::Request, mac(station), sender, target))
        }
        MadeFrame::Advertisement { sender, target } => {
            let (source, destination) = ((mac(sender.0), sender.1), (mac(target.0), target.1));
            let (frame, len) =
                Neighbor::frame(NeighborOperation::Advertisement, source, destination, sender.1);
            padded(&frame[..len])
        }
        MadeFrame::SolicitationProbe { station, target } => {
            // To the solicited-node group (RFC 4291, section 2.7.1), but to this station's MAC only.
            let [.., a, b, c] = target.octets();
            let group = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c];
            let source = (own, [0; 16].into());
            let destination = (mac(station), group.into());
            let (frame, len) = Neighbor::frame(NeighborOperation::Solicitation, source, destination, target);
            padded(&frame[..len])
        }
    }
}
