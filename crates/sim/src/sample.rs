//! [`Sample`]: a value measured at a time of a run, a row of `series.parquet`.

use serde::Serialize;
use weft_units::Time;

use crate::results::{Cell, Column, Kind};

/// One measured value.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The sampling time.
    pub time: Time,
    /// The metric.
    pub metric: Metric,
    /// The number of the link, class or node.
    pub entity: u32,
    /// The value.
    pub value: f64,
}

/// The columns of `series.parquet`.
pub const SERIES: &[Column] = &[
    Column { name: "time_ps", kind: Kind::Int64, or_null: false, doc: "end of the interval" },
    Column { name: "metric", kind: Kind::Text, or_null: false, doc: "one of the metrics below" },
    Column { name: "entity", kind: Kind::Text, or_null: false, doc: "link, class or switch" },
    Column { name: "value", kind: Kind::Float64, or_null: false, doc: "the value" },
];

impl Sample {
    /// Its cells; `entity` is the name of the entity.
    pub fn cells<'a>(&self, entity: &'a str) -> [Cell<'a>; SERIES.len()] {
        [self.time.into(), self.metric.name().into(), entity.into(), Cell::Real(self.value)]
    }
}

/// The kind of entities that a metric is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Entity {
    /// A link, in one direction.
    Link,
    /// A class of flows.
    Class,
    /// A switch.
    Switch,
    /// The whole run.
    All,
}

/// Declares the metrics, each with its name in results and the kind of its entities.
macro_rules! metrics {
    ($(#[doc = $doc:literal] $variant:ident = $name:literal of $entity:ident,)*) => {
        /// The quantity that a [`Sample`] measures.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Metric { $(#[doc = $doc] $variant,)* }

        impl Metric {
            /// Every metric.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in `series.parquet`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The kind of its entities.
            pub const fn entity(self) -> Entity {
                match self { $(Self::$variant => Entity::$entity),* }
            }

            /// The meaning of its values.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$variant => $doc.trim_ascii_start()),* }
            }
        }
    };
}

metrics! {
    /// share of the link's rate used in the interval, by bytes that left
    LinkUtilisation = "link_utilisation" of Link,
    /// bytes waiting at that time
    QueueBytes = "queue_bytes" of Link,
    /// packets waiting at that time
    QueuePackets = "queue_packets" of Link,
    /// packets dropped in the interval
    Drops = "drops" of Link,
    /// bytes delivered to applications in the interval, in bit/s
    Throughput = "throughput_bps" of Class,
    /// flows started and not finished
    ActiveFlows = "active_flows" of All,
    /// flow entries in its tables; two per flow if each direction has its own
    FlowEntries = "flow_entries" of Switch,
    /// station entries in its tables; under HULA best next hops, under CONGA known path loads
    StationEntries = "station_entries" of Switch,
    /// entries of its groups of next hops, under WCMP
    GroupEntries = "group_entries" of Switch,
}
