//! [`Operation`]: a checked node of a rank's file, and [`RankTrace`], all of a file.

use std::collections::HashMap;

use weft_units::Duration;

use super::circle::dependency_in_circle;
use super::groups::Groups;
use super::kind::Kind;
use super::messages::Messages;
use super::schema::{GlobalMetadata, Node, Value};
use crate::trace::error::{Place, TraceError};
use crate::trace::order::Order;
use crate::words::short;

/// A node of a rank's file.
pub struct Operation {
    /// Its id.
    pub id: u64,
    /// Its work.
    pub what: What,
}

/// The work of a node.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// None.
    Nothing,
    /// A computation, on the rank's CPU or its accelerator.
    Compute { took: Duration, is_cpu: bool },
    /// Work beside computations.
    Aside(Duration),
    /// A message to a rank, with a tag.
    Send { to: u32, bytes: u64, tag: u32 },
    /// A message from a rank, with a tag.
    Receive { from: u32, bytes: u64, tag: u32 },
    /// A part in a collective operation, in the communicator of this name.
    Collective { kind: Kind, bytes: u64, communicator: String },
}

/// The file of a rank.
pub struct RankTrace {
    /// The nodes, by id.
    pub operations: Vec<Operation>,
    /// Each node that waits for another, with that, by their indices.
    pub dependencies: Vec<(u32, u32)>,
    /// Which nodes wait for which.
    pub order: Order,
    /// The communicators that its metadata describe.
    pub groups: Groups,
    /// Whether a node without a duration states a number of operations.
    pub has_untimed: bool,
    /// Nodes with one in their `ctrl_deps` that the file does not have: converters leave out parents of others.
    pub lost: Vec<(u64, u64)>,
    /// A node and one that it waits for, in a circle of callers of PyTorch, which are left out.
    pub circle_of_callers: Option<(u64, u64)>,
}

impl RankTrace {
    /// Reads the file of a rank.
    ///
    /// # Errors
    /// The place and the reason.
    pub fn read(rank: u32, ranks: u32, file: &[u8]) -> Result<Self, TraceError> {
        if file.starts_with(&[0x1f, 0x8b]) {
            let why = "it is compressed; expected the file that `gunzip` makes from it";
            return Err(TraceError::at(Place::Rank(rank), why));
        }
        let mut messages = Messages::of(rank, file);
        let place = messages.place();
        let head: GlobalMetadata = messages.next()?.ok_or_else(|| {
            TraceError::at(Place::Rank(rank), "its file is empty; expected Chakra's metadata, then its nodes")
        })?;
        let version = &head.version;
        if !is_known(version) {
            let why = format!(
                "version `{}` of the schema is not known; expected 0.0.4, 1.x or none",
                short(version)
            );
            return Err(TraceError::at(place, why));
        }
        let (mut nodes, mut groups, mut has_untimed) = (Vec::new(), Groups::default(), false);
        while let Some(node) = messages.next::<Node>()? {
            let refuse = |why| TraceError::at(Place::Node { rank, node: node.id }, why);
            if node.kind == METADATA {
                let values = node.inputs.as_ref().map(|inputs| inputs.values.as_str());
                groups.add(Groups::of_metadata(values.unwrap_or_default(), ranks).map_err(refuse)?);
            }
            has_untimed |=
                node.kind == COMPUTE && node.duration_micros == 0 && node.value("num_ops").is_some();
            let what = what(&node, rank, ranks).map_err(refuse)?;
            let control = node.ctrl_deps.iter().map(|on| (*on, true));
            let waits: Vec<(u64, bool)> =
                node.data_deps.iter().map(|on| (*on, false)).chain(control).collect();
            nodes.push((node.id, what, waits));
        }
        nodes.sort_by_key(|(id, ..)| *id);
        if let Some(pair) = nodes.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let why = "two nodes have this id";
            return Err(TraceError::at(Place::Node { rank, node: pair[0].0 }, why));
        }
        let indices: HashMap<u64, u32> =
            nodes.iter().zip(0..).map(|((id, ..), index)| (*id, index)).collect();
        let (mut waits_for, mut lost) = (Vec::new(), Vec::new());
        for ((id, _, waits), waiting) in nodes.iter_mut().zip(0..) {
            waits.sort_unstable();
            waits.dedup_by_key(|(on, _)| *on);
            for (on, is_control) in waits {
                match indices.get(on) {
                    Some(on) => waits_for.push((waiting, *on, *is_control)),
                    None if *is_control => lost.push((*id, *on)),
                    None => {
                        let why = format!("it waits for node {on}, which the file does not have");
                        return Err(TraceError::at(Place::Node { rank, node: *id }, why));
                    }
                }
            }
        }
        let mut circle_of_callers = None;
        if head.is_of_pytorch() {
            let of_kinds = |control: bool| {
                let these = waits_for.iter().filter(move |(.., is_control)| control || !is_control);
                dependency_in_circle(nodes.len(), these.map(|(waiting, on, _)| (*waiting, *on)))
            };
            let circle = of_kinds(true).filter(|_| of_kinds(false).is_none());
            circle_of_callers = circle.map(|(of, on)| (nodes[of as usize].0, nodes[on as usize].0));
        }
        if circle_of_callers.is_some() {
            waits_for.retain(|(.., is_control)| !is_control);
            lost.clear();
        }
        let mut order = Order::of(nodes.len());
        let dependencies = waits_for.into_iter().map(|(waiting, on, _)| (waiting, on)).collect::<Vec<_>>();
        for (waiting, on) in &dependencies {
            order.require(*waiting as usize, *on as usize, false);
        }
        let operations = nodes.into_iter().map(|(id, what, _)| Operation { id, what }).collect();
        Ok(Self { operations, dependencies, order, groups, has_untimed, lost, circle_of_callers })
    }

    /// The place of an operation of this rank.
    pub fn place(&self, rank: u32, index: usize) -> Place {
        Place::Node { rank, node: self.operations[index].id }
    }
}

/// Whether this is a version of the schema that Weft reads: converters write 0.0.4, 1.0.0 or nothing.
fn is_known(version: &str) -> bool {
    let mut parts = version.split('.');
    matches!(version, "" | "0.0.4")
        || parts.next() == Some("1") && parts.all(|part| part.parse::<u32>().is_ok())
}

const METADATA: i32 = 1;
const COMPUTE: i32 = 4;
const SEND: i32 = 5;
const RECEIVE: i32 = 6;
const COLLECTIVE: i32 = 7;

/// The work of a node.
fn what(node: &Node, rank: u32, ranks: u32) -> Result<What, String> {
    let took = || {
        let picoseconds = node.duration_micros.checked_mul(1_000_000);
        picoseconds
            .map(Duration::from_ps)
            .ok_or_else(|| format!("a duration of {} us is too long", node.duration_micros))
    };
    let tag = || {
        let tag = node.number("comm_tag")?.unwrap_or_default();
        u32::try_from(tag).map_err(|_| format!("`comm_tag` is {tag}; expected at most {}", u32::MAX))
    };
    // The own rank may be left out, but not another one in its place.
    let own = |name: &str| match node.number(name)? {
        Some(other) if other != u64::from(rank) => {
            Err(format!("`{name}` is {other} in the file of rank {rank}; expected {rank}"))
        }
        _ => Ok(()),
    };
    let peer = |name: &str| match node.rank(name, ranks)? {
        peer if peer == rank => Err(format!("`{name}` is {peer}: rank {rank} sends to itself")),
        peer => Ok(peer),
    };
    let is_cpu = match node.value("is_cpu_op") {
        Some(Value::Bool(is_cpu)) => *is_cpu,
        _ => node.number("is_cpu_op")?.unwrap_or_default() != 0,
    };
    Ok(match node.kind {
        METADATA => What::Nothing,
        // PyTorch's call of a communication on the CPU is a node beside that of the communication itself.
        COMPUTE | SEND..=COLLECTIVE if is_cpu => What::Compute { took: took()?, is_cpu },
        COMPUTE => What::Compute { took: took()?, is_cpu },
        // Loads and stores of memory; storage, batches and checkpoints of later schemas.
        2 | 3 | 8..=10 => What::Aside(took()?),
        SEND => {
            own("comm_src")?;
            What::Send { to: peer("comm_dst")?, bytes: node.need("comm_size")?, tag: tag()? }
        }
        RECEIVE => {
            own("comm_dst")?;
            let bytes = node.number("comm_size")?.unwrap_or(u64::MAX);
            What::Receive { from: peer("comm_src")?, bytes, tag: tag()? }
        }
        COLLECTIVE => collective(node)?,
        other => {
            return Err(format!(
                "type {other} of node `{}` is not known; expected 1 to 10",
                short(&node.name)
            ));
        }
    })
}

/// A part in a collective operation.
fn collective(node: &Node) -> Result<What, String> {
    let kind = node.need("comm_type")?;
    let kind = Kind::of(kind).ok_or_else(|| format!("`comm_type` is {kind}; expected 0 to 9"))?;
    let bytes = if kind == Kind::Barrier { 0 } else { node.need("comm_size")? };
    let communicator = match node.value("pg_name") {
        Some(Value::Text(name)) => name.clone(),
        Some(_) => node.need("pg_name")?.to_string(),
        None => String::new(),
    };
    if let Some(Value::Bools(dimensions)) = node.value("involved_dim")
        && communicator.is_empty()
        && dimensions.values.contains(&false)
    {
        let why = "`involved_dim` leaves out a dimension of ASTRA-sim's network, and Weft's has none; \
            name a communicator in `pg_name`";
        return Err(why.to_owned());
    }
    Ok(What::Collective { kind, bytes, communicator })
}
