//! DRB, digit-reversal bouncing: a source sends each packet to the next of all paths, in an order in which successive paths
//! share as little as possible (Cao et al., "Per-packet load-balanced, low-latency routing for Clos-based data center
//! networks", CoNEXT 2013). The paper's packets carry the address of a core switch; here the host knows for each path a
//! hash that leads to it.

use std::sync::Arc;

use weft_transport::Segment;
use weft_units::params;

use super::path_selector::{Host, Opening, PathSelector};
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::hash::pick;
use crate::host::over::{OverHashAlone, over_paths};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "drb",
    summary: "DRB: a source sends each packet over the next path, in digit-reversed order",
    decides: "hosts",
    observes: "nothing",
    source: "Cao et al., CoNEXT 2013",
    params: Config::PARAMS,
    needs: &[Need::NewHost],
    split: over_paths,
    ..Descriptor::AT_HOSTS
};

params! {
    struct Config {
        /// scheme of the switches, with its defaults
        over: OverHashAlone = OverHashAlone::Ecmp;
    }
}

/// DRB's state at one end of a connection.
pub struct Drb {
    /// Paths in digit-reversed order: the choice of the first switch changes with each packet.
    paths: Arc<[u32]>,
    next: usize,
}

impl PathSelector for Drb {
    type Scheme = ();
    type Shared = ();

    fn needs_paths(_scheme: &()) -> bool {
        true
    }

    fn open(_scheme: &(), opening: Opening) -> Self {
        Self { next: pick(opening.random, opening.paths.len()), paths: opening.paths }
    }

    fn renew(&mut self, paths: Arc<[u32]>) {
        self.next %= paths.len().max(1);
        self.paths = paths;
    }

    fn stamp(&mut self, _host: &mut Host<'_, Self>, template: &mut Header, _segment: &Segment) {
        if let Some(path) = self.paths.get(self.next) {
            template.entropy = path ^ template.flow_hash;
            self.next = (self.next + 1) % self.paths.len();
        }
    }
}
