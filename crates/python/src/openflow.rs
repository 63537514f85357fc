//! [`OpenFlow`]: connection messages and queries to a switch, for Python. Frequent messages go through
//! [`Controller`](crate::controller::Controller).

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use weft_wire::Error;
use weft_wire::openflow::{
    ErrorMessage, FlowMod, FlowRemoved, FlowStatsRequest, Header, Hello, Match, Message, MessageType,
    MultipartReply, MultipartRequest, Port, PortNumber, PortReason, Role, RoleMessage, SwitchConfig,
    flow_entries,
};

type Made<'py> = PyResult<Bound<'py, PyBytes>>;
/// A port: number, name, MAC address, whether it is up.
type Described<'py> = (u32, Bound<'py, PyBytes>, Bound<'py, PyBytes>, bool);

/// The multipart type of rules, and the offsets of type and flags in a multipart reply.
const FLOWS: [u8; 2] = [0, 1];
const MULTIPART: usize = Header::LEN;
const FLAGS: usize = MULTIPART + 3;

/// See `python/weft/_weft.pyi`.
#[pyclass]
pub struct OpenFlow;

#[pymethods]
impl OpenFlow {
    #[staticmethod]
    fn hello(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::Hello(Hello::ONLY_1_3))
    }

    #[staticmethod]
    fn hello_failed<'py>(py: Python<'py>, xid: u32, reason: &str) -> Made<'py> {
        let data = reason.as_bytes();
        made(py, xid, &Message::Error(ErrorMessage { kind: ErrorMessage::HELLO_FAILED, code: 0, data }))
    }

    #[staticmethod]
    fn echo_request(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::EchoRequest(&[]))
    }

    #[staticmethod]
    fn echo_reply<'py>(py: Python<'py>, xid: u32, data: &[u8]) -> Made<'py> {
        made(py, xid, &Message::EchoReply(data))
    }

    #[staticmethod]
    fn features_request(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::FeaturesRequest)
    }

    #[staticmethod]
    fn send_whole_frames(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::SetConfig(SwitchConfig { flags: 0, miss_send_len: 0xffff }))
    }

    #[staticmethod]
    fn become_master(py: Python<'_>, xid: u32, generation: u64) -> Made<'_> {
        made(py, xid, &Message::RoleRequest(RoleMessage { role: Role::Primary, generation }))
    }

    #[staticmethod]
    fn become_slave(py: Python<'_>, xid: u32, generation: u64) -> Made<'_> {
        made(py, xid, &Message::RoleRequest(RoleMessage { role: Role::Secondary, generation }))
    }

    #[staticmethod]
    fn role_request(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::RoleRequest(RoleMessage { role: Role::NoChange, generation: 0 }))
    }

    #[staticmethod]
    fn ports_request(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::MultipartRequest(MultipartRequest::Ports))
    }

    #[staticmethod]
    fn description_request(py: Python<'_>, xid: u32) -> Made<'_> {
        made(py, xid, &Message::MultipartRequest(MultipartRequest::Description))
    }

    #[staticmethod]
    #[pyo3(signature = (xid, cookie = 0, mask = 0))]
    fn rules_request(py: Python<'_>, xid: u32, cookie: u64, mask: u64) -> Made<'_> {
        made(py, xid, &Message::MultipartRequest(MultipartRequest::Flows(asked(cookie, mask))))
    }

    #[staticmethod]
    fn count_request(py: Python<'_>, xid: u32, cookie: u64, mask: u64) -> Made<'_> {
        made(py, xid, &Message::MultipartRequest(MultipartRequest::Counts(asked(cookie, mask))))
    }

    #[staticmethod]
    fn versions(hello: &[u8]) -> PyResult<Vec<u8>> {
        match Message::parse(hello).map_err(wrong)?.1 {
            Message::Hello(Hello { version, bitmap: None | Some(0) }) => Ok((1..=version).collect()),
            Message::Hello(hello) => Ok((0..32).filter(|version| hello.speaks(*version)).collect()),
            _ => Err(PyValueError::new_err("this is not a Hello message")),
        }
    }

    #[staticmethod]
    fn read<'py>(
        py: Python<'py>,
        message: &Bound<'py, PyBytes>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyTuple>)>> {
        let bytes = message.as_bytes();
        let content = match Header::parse(bytes).map_err(wrong)?.message_type {
            MessageType::FLOW_REMOVED => {
                ("removed", (FlowRemoved::cookie_of(bytes).map_err(wrong)?,).into_pyobject(py)?)
            }
            MessageType::MULTIPART_REPLY
                if bytes.get(MULTIPART..).is_some_and(|of| of.starts_with(&FLOWS)) =>
            {
                let mut cookies = Vec::new();
                flow_entries(bytes, |cookie, _| cookies.push(cookie)).map_err(wrong)?;
                ("rules", (bytes[FLAGS] & 1 == 1, message, cookies).into_pyobject(py)?)
            }
            MessageType::ERROR
            | MessageType::FEATURES_REPLY
            | MessageType::PORT_STATUS
            | MessageType::MULTIPART_REPLY
            | MessageType::ROLE_REPLY => match Message::parse(bytes) {
                Ok((_, message)) => return content_of(py, &message),
                Err(Error::Unsupported { field: "multipart reply", .. }) => return Ok(None),
                Err(error) => return Err(wrong(error)),
            },
            _ => return Ok(None),
        };
        Ok(Some(content))
    }
}

/// The content of a fully parsed message.
fn content_of<'py>(
    py: Python<'py>,
    message: &Message<'_>,
) -> PyResult<Option<(&'static str, Bound<'py, PyTuple>)>> {
    let content = match message {
        Message::FeaturesReply(of) => ("features", (of.datapath, of.auxiliary).into_pyobject(py)?),
        Message::PortStatus(of) => {
            ("port", (described(py, &of.port), of.reason == PortReason::Delete).into_pyobject(py)?)
        }
        Message::Error(error) => {
            let is_version = error.kind == ErrorMessage::HELLO_FAILED;
            let is_role = error.kind == ErrorMessage::ROLE_REQUEST_FAILED
                || (error.kind, error.code) == (ErrorMessage::BAD_REQUEST, ErrorMessage::IS_SECONDARY);
            let reason =
                if is_version { String::from_utf8_lossy(error.data).into() } else { error.to_string() };
            ("refused", (reason, is_version, is_role).into_pyobject(py)?)
        }
        Message::RoleReply(of) => {
            let is = |role| of.role == role;
            ("role", (is(Role::Primary), is(Role::Secondary), of.generation).into_pyobject(py)?)
        }
        Message::MultipartReply(MultipartReply::Ports { ports, more }) => {
            let ports: Vec<_> = ports.iter().map(|port| described(py, &port)).collect();
            ("ports", (*more, ports).into_pyobject(py)?)
        }
        Message::MultipartReply(MultipartReply::Counts(counts)) => {
            ("count", (counts.flows,).into_pyobject(py)?)
        }
        Message::MultipartReply(MultipartReply::Description(of)) => {
            let texts = (PyBytes::new(py, of.hardware), PyBytes::new(py, of.software));
            ("description", texts.into_pyobject(py)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(content))
}

fn made<'py>(py: Python<'py>, xid: u32, message: &Message<'_>) -> Made<'py> {
    PyBytes::new_with(py, message.encoded_len(), |bytes| message.write(xid, bytes).map(drop).map_err(wrong))
}

fn asked(cookie: u64, cookie_mask: u64) -> FlowStatsRequest {
    let (out_port, out_group) = (PortNumber::ANY, FlowMod::ANY_GROUP);
    FlowStatsRequest { table: 0, out_port, out_group, cookie, cookie_mask, matching: Match::default() }
}

fn described<'py>(py: Python<'py>, port: &Port) -> Described<'py> {
    let is_up = port.config & Port::DOWN == 0 && port.state & Port::LINK_DOWN == 0;
    (port.number.0, PyBytes::new(py, &port.name), PyBytes::new(py, &port.address.0), is_up)
}

fn wrong(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
