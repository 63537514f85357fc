//! [`Workload`]: the flows to send and their hosts, read from a JSON file.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;
use weft_traffic::{MAX_DSCP, MAX_FLOWS};
use weft_units::{Duration, Time};

/// The longest name of a congestion control, including its terminating zero (`TCP_CA_NAME_MAX`).
const MAX_CONGESTION_NAME: usize = 16;

/// Why a text is not a valid workload.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// It is not JSON, or a key is missing, unknown or of another type; the message has line and column.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Two hosts with the same name.
    #[error("hosts[{at}]: duplicate name `{name}`; every host needs its own")]
    TwiceNamed {
        /// The index of the second.
        at: usize,
        /// The name.
        name: String,
    },
    /// A flow names an unknown host.
    #[error("flows[{at}]: `{key}` is `{name}`, which is not in `hosts`")]
    UnknownHost {
        /// The index of the flow.
        at: usize,
        /// `src` or `dst`.
        key: &'static str,
        /// The name.
        name: String,
    },
    /// A value of a flow is out of range.
    #[error("flows[{at}]: `{key}` is {found}; expected {expected}")]
    OutOfRange {
        /// The index of the flow.
        at: usize,
        /// The key.
        key: &'static str,
        /// The value.
        found: String,
        /// The permitted values.
        expected: String,
    },
    /// Two flows with the same number.
    #[error("flows[{at}]: duplicate flow number {flow}; every flow needs its own")]
    TwiceNumbered {
        /// The index of the second.
        at: usize,
        /// The number.
        flow: u32,
    },
    /// Two flows between the same addresses and ports.
    #[error(
        "flows[{at}]: flow {flow} goes from {from} to {to}, like another flow; change one of their ports"
    )]
    SamePorts {
        /// The index of the second.
        at: usize,
        /// Its number.
        flow: u32,
        /// Its source.
        from: SocketAddr,
        /// Its destination.
        to: SocketAddr,
    },
    /// More flows than are supported.
    #[error("{found} flows; expected at most {MAX_FLOWS}")]
    TooMany {
        /// How many.
        found: usize,
    },
    /// A name that no congestion control can have.
    #[error("`congestion` is `{found}`; expected the name of a congestion control, such as `cubic`")]
    Congestion {
        /// The name.
        found: String,
    },
    /// A sample interval of 0.
    #[error("`sample_ps` is 0; expected the sample interval, or null for no samples")]
    NoDistance,
    /// An unknown host on the command line.
    #[error("--host {name}: not a host of the workload; expected one of {known}")]
    NotAHost {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
}

/// A host.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name, as used in flows.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// The file of its network namespace, such as `/proc/123/ns/net`; `None` is the process's own.
    #[serde(default)]
    pub netns: Option<PathBuf>,
}

/// A transfer over its own connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Its number in records.
    pub id: u32,
    /// The sending host: its index in [`Workload::hosts`].
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// TCP source port.
    pub sport: u16,
    /// TCP destination port.
    pub dport: u16,
    /// Bytes that the application sends, at least 1.
    pub bytes: u64,
    /// The DSCP of its packets, in both directions.
    pub dscp: u8,
    /// Index into [`Workload::classes`].
    pub class: u16,
    /// The start time.
    pub start: Time,
}

/// All flows of a run, validated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workload {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// The flows, ordered by start.
    pub flows: Vec<Flow>,
    /// The names of the classes by which samples are grouped.
    pub classes: Vec<String>,
    /// The congestion control of all sockets; `None` is the default of each namespace.
    pub congestion: Option<String>,
    /// The start of the run, in ns since 1970; `None` is as soon as possible.
    pub start_at_ns: Option<u64>,
    /// The latest end of the run.
    pub limit: Duration,
    /// The interval of samples of delivered bytes; `None` takes none.
    pub sample: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowText {
    flow: u32,
    src: String,
    dst: String,
    sport: u16,
    dport: u16,
    bytes: u64,
    #[serde(default)]
    dscp: u8,
    #[serde(default)]
    class: String,
    start_ps: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    hosts: Vec<Host>,
    flows: Vec<FlowText>,
    #[serde(default)]
    congestion: Option<String>,
    #[serde(default)]
    start_at_ns: Option<u64>,
    limit_ps: u64,
    #[serde(default)]
    sample_ps: Option<u64>,
}

impl Workload {
    /// Reads a workload.
    ///
    /// # Errors
    /// The first problem found, and where.
    pub fn read(text: &[u8]) -> Result<Self, WorkloadError> {
        let text: Text = serde_json::from_slice(text)?;
        if text.flows.len() as u64 > MAX_FLOWS {
            return Err(WorkloadError::TooMany { found: text.flows.len() });
        }
        let fits = |name: &str| !name.is_empty() && name.len() < MAX_CONGESTION_NAME && !name.contains('\0');
        if let Some(found) = text.congestion.clone().filter(|name| !fits(name)) {
            return Err(WorkloadError::Congestion { found });
        }
        if text.sample_ps == Some(0) {
            return Err(WorkloadError::NoDistance);
        }
        let mut hosts = HashMap::new();
        for (at, host) in text.hosts.iter().enumerate() {
            if hosts.insert(host.name.as_str(), at as u32).is_some() {
                return Err(WorkloadError::TwiceNamed { at, name: host.name.clone() });
            }
        }
        let mut classes = Classes::default();
        let flows = text.flows.iter().enumerate().map(|(at, flow)| flow.check(at, &hosts, &mut classes));
        let mut flows = flows.collect::<Result<Vec<Flow>, WorkloadError>>()?;
        let mut workload = Self {
            hosts: text.hosts,
            flows: Vec::new(),
            classes: classes.names,
            congestion: text.congestion,
            start_at_ns: text.start_at_ns,
            limit: Duration::from_ps(text.limit_ps),
            sample: text.sample_ps.map(Duration::from_ps),
        };
        workload.check_distinct(&flows)?;
        flows.sort_by_key(|flow| flow.start);
        workload.flows = flows;
        Ok(workload)
    }

    /// The source address and port of a flow.
    pub fn source(&self, flow: &Flow) -> SocketAddr {
        SocketAddr::new(self.hosts[flow.src as usize].address, flow.sport)
    }

    /// The destination address and port of a flow.
    pub fn destination(&self, flow: &Flow) -> SocketAddr {
        SocketAddr::new(self.hosts[flow.dst as usize].address, flow.dport)
    }

    /// For each host, whether it is one of `names`; without names all are.
    ///
    /// # Errors
    /// An unknown name.
    pub fn here(&self, names: &[String]) -> Result<Vec<bool>, WorkloadError> {
        let known = |name: &String| self.hosts.iter().any(|host| host.name == *name);
        if let Some(name) = names.iter().find(|name| !known(name)) {
            let known: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
            return Err(WorkloadError::NotAHost { name: name.clone(), known: known.join(", ") });
        }
        Ok(self.hosts.iter().map(|host| names.is_empty() || names.contains(&host.name)).collect())
    }

    fn check_distinct(&self, flows: &[Flow]) -> Result<(), WorkloadError> {
        let (mut numbers, mut ends) = (HashMap::new(), HashMap::new());
        for (at, flow) in flows.iter().enumerate() {
            if numbers.insert(flow.id, at).is_some() {
                return Err(WorkloadError::TwiceNumbered { at, flow: flow.id });
            }
            let (from, to) = (self.source(flow), self.destination(flow));
            if ends.insert((from, to), at).is_some() {
                return Err(WorkloadError::SamePorts { at, flow: flow.id, from, to });
            }
        }
        Ok(())
    }
}

/// Class names, numbered in order of appearance.
#[derive(Default)]
struct Classes {
    names: Vec<String>,
    known: HashMap<String, u16>,
}

impl Classes {
    fn number(&mut self, name: &str) -> Option<u16> {
        if let Some(&number) = self.known.get(name) {
            return Some(number);
        }
        let number = u16::try_from(self.names.len()).ok()?;
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        Some(number)
    }
}

impl FlowText {
    fn check(
        &self,
        at: usize,
        hosts: &HashMap<&str, u32>,
        classes: &mut Classes,
    ) -> Result<Flow, WorkloadError> {
        let host = |key, name: &String| {
            let found = hosts.get(name.as_str()).copied();
            found.ok_or_else(|| WorkloadError::UnknownHost { at, key, name: name.clone() })
        };
        let range =
            |key, found: String, expected: String| WorkloadError::OutOfRange { at, key, found, expected };
        let (src, dst) = (host("src", &self.src)?, host("dst", &self.dst)?);
        if src == dst {
            return Err(range("dst", format!("`{}`, the source", self.dst), "another host".to_owned()));
        }
        for (key, port) in [("sport", self.sport), ("dport", self.dport)] {
            if port == 0 {
                return Err(range(key, "0".to_owned(), "a port, 1 to 65535".to_owned()));
            }
        }
        if self.bytes == 0 {
            return Err(range("bytes", "0".to_owned(), "at least 1".to_owned()));
        }
        if self.dscp > MAX_DSCP {
            return Err(range("dscp", self.dscp.to_string(), format!("0 to {MAX_DSCP}")));
        }
        let class = classes.number(&self.class);
        let many = || range("class", format!("`{}`", self.class), "at most 65536 classes".to_owned());
        Ok(Flow {
            id: self.flow,
            src,
            dst,
            sport: self.sport,
            dport: self.dport,
            bytes: self.bytes,
            dscp: self.dscp,
            class: class.ok_or_else(many)?,
            start: Time::from_ps(self.start_ps),
        })
    }
}
