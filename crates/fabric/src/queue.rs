//! [`QueueSpec`]: the queue in front of a link, written as text if it is simple (`"1000 packets"`, `"150
//! kB"`) and as a table otherwise.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use weft_units::{QuantityError, words};

use crate::limit::Limit;
use crate::pfc::PfcSpec;
use crate::red::RedSpec;

/// One of several queues of a port. Each has the port's limit and threshold to itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClassSpec {
    /// Its share of the link under [`Scheduler::Drr`]; ignored under strict priority.
    pub weight: u32,
}

/// Maximum queues of a port: a DSCP has eight class selectors (RFC 2474, section 4.2.2).
pub const MAX_QUEUES: usize = 8;

words! {
    /// Which of several queues of a port sends next.
    #[derive(Hash, Default)]
    pub enum Scheduler {
        /// The first queue that is not empty.
        #[default]
        StrictPriority = "strict-priority",
        /// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) by the weights of the classes.
        Drr = "drr",
    }
}

/// The queue in front of a link.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct QueueSpec {
    /// Packets beyond it are dropped.
    pub limit: Limit,
    /// Packets that find this much queued are marked CE (RFC 3168); `None`: no marking.
    pub ecn_threshold: Option<Limit>,
    /// The queues of the port, highest priority first; empty: one FIFO.
    pub classes: Vec<ClassSpec>,
    /// Which class sends next; ignored for a FIFO.
    pub scheduler: Scheduler,
    /// Marking with a probability, instead of the threshold.
    pub red: Option<RedSpec>,
    /// A packet that finds its queue full is cut to its headers, if its protocol knows such packets.
    pub trim: bool,
    /// The limit of the queue of cut packets, the most urgent one; `None`: twice `limit`, in bytes of full packets.
    pub trim_queue: Option<Limit>,
    /// The switch at the end of the link pauses the queues instead of dropping packets.
    pub pfc: Option<PfcSpec>,
}

impl QueueSpec {
    /// A drop-tail FIFO of `limit` that marks nothing.
    pub const fn fifo(limit: Limit) -> Self {
        Self {
            limit,
            ecn_threshold: None,
            classes: Vec::new(),
            scheduler: Scheduler::StrictPriority,
            red: None,
            trim: false,
            trim_queue: None,
            pfc: None,
        }
    }

    /// This queue, with ECN marks from `threshold` bytes on.
    pub fn marking(self, threshold: Limit) -> Self {
        Self { ecn_threshold: Some(threshold), ..self }
    }

    /// Whether the port has one queue only.
    #[inline]
    pub fn is_fifo(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether the limit and the threshold describe the queue.
    pub fn is_simple(&self) -> bool {
        self.is_fifo() && self.red.is_none() && !self.trim && self.pfc.is_none()
    }

    /// Whether the limit alone describes the queue.
    fn is_plain(&self) -> bool {
        self.is_simple() && self.ecn_threshold.is_none()
    }
}

impl Default for QueueSpec {
    /// A FIFO of 1000 packets, Linux's `txqueuelen`.
    fn default() -> Self {
        Self::fifo(Limit::Packets(1000))
    }
}

impl FromStr for QueueSpec {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        text.parse().map(Self::fifo)
    }
}

impl Serialize for QueueSpec {
    /// The limit as text if that is sufficient, else a table of `limit`, `ecn_threshold`, `scheduler`, `weights`, `red`,
    /// `trim`, `trim_queue` and `pfc`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_plain() {
            return self.limit.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("limit", &self.limit)?;
        if let Some(threshold) = &self.ecn_threshold {
            map.serialize_entry("ecn_threshold", threshold)?;
        }
        if !self.is_fifo() {
            map.serialize_entry("scheduler", &self.scheduler)?;
            map.serialize_entry("weights", &self.classes.iter().map(|c| c.weight).collect::<Vec<_>>())?;
        }
        if let Some(red) = &self.red {
            map.serialize_entry("red", red)?;
        }
        if self.trim {
            map.serialize_entry("trim", &true)?;
            if let Some(limit) = &self.trim_queue {
                map.serialize_entry("trim_queue", limit)?;
            }
        }
        if let Some(pfc) = &self.pfc {
            map.serialize_entry("pfc", pfc)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for QueueSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The table form.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            limit: Limit,
            ecn_threshold: Option<Limit>,
            #[serde(default)]
            scheduler: Scheduler,
            #[serde(default)]
            weights: Vec<u32>,
            red: Option<RedSpec>,
            #[serde(default)]
            trim: bool,
            trim_queue: Option<Limit>,
            pfc: Option<PfcSpec>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a queue size such as \"1000 packets\" or a table with `limit`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<QueueSpec, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QueueSpec, A::Error> {
                let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(QueueSpec {
                    limit: table.limit,
                    ecn_threshold: table.ecn_threshold,
                    classes: table.weights.into_iter().map(|weight| ClassSpec { weight }).collect(),
                    scheduler: table.scheduler,
                    red: table.red,
                    trim: table.trim,
                    trim_queue: table.trim_queue,
                    pfc: table.pfc,
                })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// The queue of a packet among `queues`, by its DSCP's class selector (RFC 2474, section 4.2.2): selector 0 goes to the
/// last queue, each higher one to the queue before; selectors beyond the number of queues share queue 0, the most urgent.
#[inline]
pub fn class_of(traffic_class: u8, queues: usize) -> usize {
    let selector = usize::from(traffic_class >> 5);
    (7 - selector).saturating_sub(8_usize.saturating_sub(queues)).min(queues - 1)
}
