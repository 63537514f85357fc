//! [`Peers`]: the machines at the ends of fabric links, as far as the program knows them.

use std::collections::BTreeMap;

use weft_wire::Mac;

/// The addresses as last written for the program, by port.
#[derive(Debug, Default)]
pub struct Peers {
    /// Of its ports that may have a peer.
    pub own: Vec<Option<Mac>>,
    /// The ports that share an address of `own`, as last logged.
    pub twins: BTreeMap<Mac, Vec<usize>>,
    /// Of the peers; `None`: not written yet.
    pub known: Vec<Option<Mac>>,
}
