//! [`Resolver`]: the hosts' ARP caches, and the flows that wait for an address.
//!
//! Schemes that switch by address need ARP (RFC 826): a flow to a host whose address is not in its
//! source's cache starts with an ARP Request, retried every second (RFC 1122, section 2.3.2.1). The
//! target of a request also caches the requester's address.

use std::collections::BTreeMap;

use weft_switching::{Header, Kind, Mac};
use weft_units::{Duration, HostId, Time};

/// How long a host waits for a reply before it retries.
pub const RETRY: Duration = Duration::from_secs(1);
/// Length of an ARP packet for IPv4 over Ethernet, in bytes.
const ARP_BYTES: u16 = 28;

/// The requesting host and the target.
pub type Question = (HostId, HostId);

/// The ARP caches and the waiting flows.
pub struct Resolver {
    lifetime: Duration,
    /// Whether all addresses are known for the whole run.
    knows_all: bool,
    known_until: BTreeMap<Question, Time>,
    waiting: BTreeMap<Question, Vec<u32>>,
}

impl Resolver {
    /// ARP caches whose entries live for `lifetime`: empty, or with all addresses, which connections keep alive.
    pub fn new(lifetime: Duration, knows_all: bool) -> Self {
        Self { lifetime, knows_all, known_until: BTreeMap::new(), waiting: BTreeMap::new() }
    }

    /// Whether the first host knows the second's address.
    pub fn knows(&self, question: Question, now: Time) -> bool {
        self.knows_all || self.known_until.get(&question).is_some_and(|until| *until > now)
    }

    /// Makes a flow wait for an address; returns whether it is the first to do so.
    pub fn wait(&mut self, question: Question, flow: u32) -> bool {
        let flows = self.waiting.entry(question).or_default();
        flows.push(flow);
        flows.len() == 1
    }

    /// Whether a flow waits for the address.
    pub fn is_waiting(&self, question: Question) -> bool {
        self.waiting.contains_key(&question)
    }

    /// Adds the second host's address to the first's cache; returns the flows that waited for it.
    pub fn learn(&mut self, question: Question, now: Time) -> Vec<u32> {
        self.known_until.insert(question, now + self.lifetime);
        self.waiting.remove(&question).unwrap_or_default()
    }
}

/// The ARP Request for a question.
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

/// The target of an ARP Request.
pub fn target(request: &Header) -> HostId {
    let [a, b, c, d, ..] = request.overlay;
    HostId(u32::from_be_bytes([a, b, c, d]))
}

/// The ARP Reply of `from` to `to`.
pub fn reply(from: HostId, to: HostId) -> Header {
    Header {
        src: Mac::of_host(from.0),
        dst: Mac::of_host(to.0),
        kind: Kind::ArpReply,
        ip_bytes: ARP_BYTES,
        ..Header::default()
    }
}
