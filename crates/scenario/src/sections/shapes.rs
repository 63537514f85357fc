//! The shapes of fabrics that have a builder.

use weft_fabric::build;

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
        extra: &[
            key("tors", Kind::Count(1), "1", "leaves per host, with a link to each (dual ToR: 2)"),
            FABRIC_RATE,
            OVERSUBSCRIPTION,
        ],
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
    Shape {
        name: "rail-optimised",
        doc: "servers of GPUs; GPUs of the same number share leaves, and spines connect all leaves",
        counts: &[
            count("pods", "groups of servers with leaves of their own"),
            count("servers_per_pod", "servers per pod"),
            GPUS,
            count("spines", "spine switches per plane"),
        ],
        extra: &[
            key(
                "rails",
                Kind::Count(1),
                "",
                "rails of a pod: GPU g is on rail g modulo this (default: `gpus`)",
            ),
            TORS_OF_RAIL,
            PLANES,
            FABRIC_RATE,
            OVERSUBSCRIPTION,
        ],
    },
    Shape {
        name: "rail-only",
        doc: "servers of GPUs; GPUs of the same number share a leaf, and leaves are not connected",
        counts: &[count("servers", "servers"), GPUS],
        extra: &[TORS_OF_RAIL, PLANES],
    },
    Shape {
        name: "dual-plane",
        doc: "servers of GPUs with one interface in each of two separate networks of leaves and spines",
        counts: &[
            count("leaves", "leaf switches per plane"),
            count("servers_per_leaf", "servers per leaf"),
            GPUS,
            count("spines", "spine switches per plane"),
        ],
        extra: &[FABRIC_RATE, OVERSUBSCRIPTION],
    },
    Shape {
        name: "rack-scale",
        doc: "racks of GPUs that are one scale-up domain, such as NVL72, on the rails of their trays",
        counts: &[
            count("racks", "racks"),
            GPUS,
            count("rails", "rails: GPU g of a rack is on rail g modulo this"),
            count("spines", "spine switches"),
        ],
        extra: &[TORS_OF_RAIL, FABRIC_RATE, OVERSUBSCRIPTION],
    },
];

const GPUS: Key = count("gpus", "GPUs per server or rack, each a host; more than one form a scale-up domain");
const TORS_OF_RAIL: Key = key(
    "tors",
    Kind::Count(1),
    "1",
    "leaves of a rail, with a link from each of its GPUs to each (dual ToR: 2)",
);
const PLANES: Key =
    key("planes", Kind::Count(1), "1", "separate networks; each GPU has an interface in each");

/// The reason why `kind` has no `key` of another shape, and the fabric to write instead, where the name promises it.
pub(crate) fn instead(kind: &str, key: &str) -> Option<&'static str> {
    (kind == "dual-plane" && key == "tors").then_some(
        "each GPU has two interfaces already, one to a leaf of each plane; for several leaves in each plane, set kind = \
         \"rail-optimised\", rails = 1 and planes = 2, and rename `leaves` to `pods` and `servers_per_leaf` to \
         `servers_per_pod`",
    )
}

/// The keys of scale-up domains, for every fabric.
pub(crate) const SCALE_UP_KEYS: &[Key] = &[
    key("scale_up", Kind::Count(2), "", "hosts per scale-up domain (NVLink): each so many hosts, in order"),
    key("scale_up_rate", Kind::Rate, "", "rate of a host's link into its scale-up domain, each direction")
        .of(|| build::SCALE_UP_RATE.to_string()),
    key("scale_up_delay", Kind::Duration, "", "delay of that link, which leads to the domain's switch")
        .of(|| build::SCALE_UP_DELAY.to_string()),
];

/// The key that names a shape.
pub(crate) const KIND: Key = key("kind", Kind::Choice(kinds), "", "topology of the fabric");

/// The names of all shapes.
pub(crate) fn kinds() -> Vec<&'static str> {
    SHAPES.iter().map(|shape| shape.name).collect()
}
