//! The OpenFlow messages that every new path costs, made and read by `weft_wire`: rules with their barrier,
//! packets down, packets up. All other messages are os-ken's, in `python/weft/controller/codec.py`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyTuple};
use weft_wire::openflow::{
    Action, FlowCommand, FlowFlags, FlowMod, List, Masked, Match, Message, PacketOut, PortNumber,
};
use weft_wire::{EtherType, IpProtocol, MacAddr};

/// A rule as the core of the controller gives it.
type Rule<'py> = (u64, PyBackedStr, u64, u16, Bound<'py, PyTuple>, Bound<'py, PyTuple>, u16, bool);

#[pyfunction]
pub fn flow_mods<'py>(
    py: Python<'py>,
    first_xid: u32,
    rules: Vec<Rule<'py>>,
    barrier: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::with_capacity(160 * rules.len());
    let mut xid = first_xid;
    for (_, op, cookie, priority, fields, actions, idle_timeout, notify) in &rules {
        let (command, cookie_mask) = match &**op {
            "add" => (FlowCommand::Add, 0),
            "modify" => (FlowCommand::ModifyStrict, u64::MAX),
            "remove" => (FlowCommand::Delete, u64::MAX),
            other => return Err(PyValueError::new_err(format!("`{other}` is none of add, modify, remove"))),
        };
        let actions = actions.iter().map(|action| read_action(&action)).collect::<PyResult<Vec<_>>>()?;
        let change = FlowMod {
            cookie: *cookie,
            cookie_mask,
            table: 0,
            command,
            idle_timeout: *idle_timeout,
            hard_timeout: 0,
            priority: *priority,
            buffer: None,
            out_port: PortNumber::ANY,
            out_group: FlowMod::ANY_GROUP,
            flags: if *notify { FlowFlags::SEND_FLOW_REM } else { FlowFlags::default() },
            matching: read_match(fields)?,
            actions: List::new(&actions),
        };
        append(&mut out, xid, &Message::FlowMod(change))?;
        xid = xid.wrapping_add(1);
    }
    if barrier {
        append(&mut out, xid, &Message::BarrierRequest)?;
    }
    Ok(PyBytes::new(py, &out))
}

#[pyfunction]
pub fn packet_out<'py>(
    py: Python<'py>,
    xid: u32,
    in_port: u32,
    ports: Vec<u32>,
    frame: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let actions: Vec<_> = ports.into_iter().map(|port| Action::output(PortNumber(port))).collect();
    let packet =
        PacketOut { buffer: None, in_port: PortNumber(in_port), actions: List::new(&actions), data: frame };
    let mut out = Vec::new();
    append(&mut out, xid, &Message::PacketOut(packet))?;
    Ok(PyBytes::new(py, &out))
}

#[pyfunction]
pub fn packet_in<'py>(py: Python<'py>, message: &[u8]) -> PyResult<(u32, u64, Bound<'py, PyBytes>)> {
    match Message::parse(message).map_err(refused)? {
        (_, Message::PacketIn(packet)) => {
            Ok((packet.in_port.0, packet.cookie, PyBytes::new(py, packet.data)))
        }
        _ => Err(PyValueError::new_err("it is no packet-in")),
    }
}

fn append(out: &mut Vec<u8>, xid: u32, message: &Message) -> PyResult<()> {
    let start = out.len();
    out.resize(start + message.encoded_len(), 0);
    message.write(xid, &mut out[start..]).map_err(refused)?;
    Ok(())
}

fn read_match(fields: &Bound<PyTuple>) -> PyResult<Match> {
    let mut found = Match::default();
    for field in fields.iter() {
        let (name, value): (PyBackedStr, Bound<PyAny>) = field.extract()?;
        match &*name {
            "in_port" => found.in_port = Some(PortNumber(value.extract()?)),
            "eth_dst" => found.eth_dst = Some(masked(&value)?),
            "eth_src" => found.eth_src = Some(mac(&value)?),
            "eth_type" => found.eth_type = Some(EtherType(value.extract()?)),
            "ip_proto" => found.ip_proto = Some(IpProtocol(value.extract()?)),
            "ipv4_src" => found.ipv4_src = Some(address::<Ipv4Addr>(&value)?),
            "ipv4_dst" => found.ipv4_dst = Some(address::<Ipv4Addr>(&value)?),
            "ipv6_src" => found.ipv6_src = Some(address::<Ipv6Addr>(&value)?),
            "ipv6_dst" => found.ipv6_dst = Some(address::<Ipv6Addr>(&value)?),
            "tcp_src" => found.tcp_src = Some(value.extract()?),
            "tcp_dst" => found.tcp_dst = Some(value.extract()?),
            "udp_src" => found.udp_src = Some(value.extract()?),
            "udp_dst" => found.udp_dst = Some(value.extract()?),
            "arp_op" => found.arp_op = Some(value.extract()?),
            "icmpv6_type" => found.icmpv6_type = Some(value.extract()?),
            other => return Err(PyValueError::new_err(format!("`{other}` is no field of a match"))),
        }
    }
    Ok(found)
}

fn read_action(action: &Bound<PyAny>) -> PyResult<Action> {
    let (what, value): (PyBackedStr, Bound<PyAny>) = action.extract()?;
    match &*what {
        "set_eth_dst" => Ok(Action::SetEthDst(mac(&value)?)),
        "output" => Ok(Action::output(PortNumber(value.extract()?))),
        "controller" => Ok(Action::Output { port: PortNumber::CONTROLLER, max_len: value.extract()? }),
        other => Err(PyValueError::new_err(format!("`{other}` is no action"))),
    }
}

fn masked(value: &Bound<PyAny>) -> PyResult<Masked> {
    if let Ok(pair) = value.cast::<PyTuple>() {
        return Ok(Masked::new(mac(&pair.get_item(0)?)?, mac(&pair.get_item(1)?)?));
    }
    Ok(Masked::new(mac(value)?, MacAddr::BROADCAST))
}

fn mac(value: &Bound<PyAny>) -> PyResult<MacAddr> {
    let text: PyBackedStr = value.extract()?;
    let mut octets = [0; 6];
    let mut parts = text.split(':');
    for octet in &mut octets {
        let part = parts.next().and_then(|part| u8::from_str_radix(part, 16).ok());
        *octet = part.ok_or_else(|| PyValueError::new_err(format!("`{text}` is no MAC address")))?;
    }
    Ok(MacAddr(octets))
}

fn address<A: FromStr>(value: &Bound<PyAny>) -> PyResult<A> {
    let text: PyBackedStr = value.extract()?;
    text.parse().map_err(|_| PyValueError::new_err(format!("`{text}` is no address of that version")))
}

fn refused(error: weft_wire::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
