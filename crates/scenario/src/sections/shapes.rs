//! The shapes of fabrics that have a builder.

use crate::key::{Key, Kind, key};

/// A shape with a builder, and its own keys.
pub(crate) struct Shape {
    /// The value of `kind`.
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Its required counts.
    pub(crate) counts: &'static [Key],
    /// Its other own keys.
    pub(crate) extra: &'static [Key],
}

const fn count(name: &'static str, doc: &'static str) -> Key {
    key(name, Kind::Count(1), "", doc)
}

const FABRIC_RATE: Key =
    key("fabric_rate", Kind::Rate, "", "rate of links between switches (default: `rate`)");
const OVERSUBSCRIPTION: Key = key(
    "oversubscription",
    Kind::Number,
    "",
    "host capacity over uplink capacity of a switch; sets the rate of the uplinks",
);

/// Every shape.
pub(crate) const SHAPES: &[Shape] = &[
    Shape {
        name: "fat-tree",
        doc: "k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts",
        counts: &[key("k", Kind::Count(2), "", "ports per switch, an even number")],
        extra: &[FABRIC_RATE],
    },
    Shape {
        name: "spine-leaf",
        doc: "every leaf connects to every spine",
        counts: &[
            count("spines", "spine switches"),
            count("leaves", "leaf switches"),
            count("hosts_per_leaf", "hosts per leaf"),
        ],
        extra: &[FABRIC_RATE, OVERSUBSCRIPTION],
    },
    Shape {
        name: "three-layer",
        doc: "pods of top-of-rack and aggregation switches, connected by planes of spines",
        counts: &[
            count("pods", "pods"),
            count("tors_per_pod", "top-of-rack switches per pod"),
            count("planes", "spine planes, and aggregation switches per pod"),
            count("spines_per_plane", "spines per plane"),
            count("hosts_per_tor", "hosts per top-of-rack switch"),
        ],
        extra: &[FABRIC_RATE, OVERSUBSCRIPTION],
    },
    Shape {
        name: "dumbbell",
        doc: "two switches with hosts, one link between them",
        counts: &[count("left", "hosts on one side"), count("right", "hosts on the other")],
        extra: &[
            key("bottleneck_rate", Kind::Rate, "", "rate of the link between the switches (default: `rate`)"),
            key(
                "bottleneck_delay",
                Kind::Duration,
                "",
                "delay of the link between the switches (default: `delay`)",
            ),
        ],
    },
    Shape {
        name: "ring",
        doc: "a ring of switches with hosts",
        counts: &[
            key("switches", Kind::Count(3), "", "switches"),
            count("hosts_per_switch", "hosts per switch"),
        ],
        extra: &[FABRIC_RATE],
    },
    Shape {
        name: "mesh",
        doc: "a full mesh of switches with hosts",
        counts: &[
            key("switches", Kind::Count(2), "", "switches"),
            count("hosts_per_switch", "hosts per switch"),
        ],
        extra: &[FABRIC_RATE],
    },
];

/// The key that names a shape.
pub(crate) const KIND: Key = key("kind", Kind::Choice(kinds), "", "topology of the fabric");

/// The names of all shapes.
pub(crate) fn kinds() -> Vec<&'static str> {
    SHAPES.iter().map(|shape| shape.name).collect()
}
