//! [`Resolver`]: what hosts know of each other's addresses, and the flows that wait for them.
//!
//! Schemes that switch by address need hosts that ask (RFC 826): a flow to a host whose address its
//! source does not remember starts with an ARP Request, sent again each second (RFC 1122, section
//! 2.3.2.1). Who is asked remembers who asked.

use std::collections::BTreeMap;

use weft_switching::{Header, Kind, Mac};
use weft_units::{Duration, HostId, Time};

/// How long a host waits for an answer before it asks again.
pub const RETRY: Duration = Duration::from_secs(1);
/// Length of an ARP packet for IPv4 over Ethernet, in bytes.
const ARP_BYTES: u16 = 28;

/// Who asks for whom.
pub type Question = (HostId, HostId);

/// What hosts remember, and what waits.
pub struct Resolver {
    lifetime: Duration,
    known_until: BTreeMap<Question, Time>,
    waiting: BTreeMap<Question, Vec<u32>>,
}

impl Resolver {
    /// Hosts that know nothing yet and remember an address for `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self { lifetime, known_until: BTreeMap::new(), waiting: BTreeMap::new() }
    }

    /// Whether the first host knows the second's address.
    pub fn knows(&self, question: Question, now: Time) -> bool {
        self.known_until.get(&question).is_some_and(|until| *until > now)
    }

    /// Has a flow wait for an address; whether nobody has asked for it yet.
    pub fn wait(&mut self, question: Question, flow: u32) -> bool {
        let flows = self.waiting.entry(question).or_default();
        flows.push(flow);
        flows.len() == 1
    }

    /// Whether a flow waits for the address.
    pub fn is_waiting(&self, question: Question) -> bool {
        self.waiting.contains_key(&question)
    }

    /// Whether any flow waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The first host has learnt the second's address: the flows that waited for it.
    pub fn learn(&mut self, question: Question, now: Time) -> Vec<u32> {
        self.known_until.insert(question, now + self.lifetime);
        self.waiting.remove(&question).unwrap_or_default()
    }

    /// Every flow that still waits.
    pub fn abandon(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }
}

/// The request of a question.
pub fn request((from, to): Question) -> Header {
    let mut header = Header {
        src: Mac::of_host(from.0),
        dst: Mac::BROADCAST,
        kind: Kind::ArpRequest,
        ip_bytes: ARP_BYTES,
        ..Header::default()
    };
    header.overlay[..4].copy_from_slice(&to.0.to_be_bytes());
    header
}

/// Whom a request asks for.
pub fn target(request: &Header) -> HostId {
    let [a, b, c, d, ..] = request.overlay;
    HostId(u32::from_be_bytes([a, b, c, d]))
}

/// The answer of `from` to `to`.
pub fn reply(from: HostId, to: HostId) -> Header {
    Header {
        src: Mac::of_host(from.0),
        dst: Mac::of_host(to.0),
        kind: Kind::ArpReply,
        ip_bytes: ARP_BYTES,
        ..Header::default()
    }
}
