//! Clove with ECN: a source spreads flowlets over all paths in proportion to weights, and lowers the weight of a path on
//! which the destination has seen congestion marks (Katta et al., "Clove: congestion-aware load balancing at the virtual
//! edge", CoNEXT 2017, section 3.2).
//!
//! The paper's hypervisors find source ports that lead to distinct paths by traceroute; here the host knows them. The
//! hypervisor of the paper hides marks from its guests while another path is free; here TCP sees all marks.

use std::sync::Arc;

use weft_transport::{Ecn, Flags, Segment};
use weft_units::{Duration, Time, params};

use super::path_selector::{Host, Opening, PathSelector};
use super::path_weights::PathWeights;
use super::seen_marks::SeenMarks;
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::host::over::OverHashAlone;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "clove",
    summary: "Clove: a source spreads flowlets by weights, which congestion marks lower",
    decides: "hosts",
    observes: "congestion marks, by path",
    source: "Katta et al., CoNEXT 2017",
    params: Scheme::PARAMS,
    needs: &[Need::NewHost],
    ..Descriptor::AT_HOSTS
};

params! {
    /// The parameters.
    pub struct Scheme {
        /// scheme of the switches, with its defaults
        over: OverHashAlone = OverHashAlone::Ecmp;
        /// pause after which a flow may change its path: about a round trip
        gap: Duration = Duration::from_us(100);
        /// least time between two reports about a path: about half a round trip
        relay: Duration = Duration::from_us(50);
    }
}

/// Clove's state at one end of a connection.
pub struct Clove {
    paths: Arc<[u32]>,
    /// The path of the flowlet, and when its last packet was sent.
    flowlet: Option<(usize, Time)>,
    marks: SeenMarks,
    random: u64,
}

impl PathSelector for Clove {
    type Scheme = Scheme;
    type Shared = PathWeights;

    fn needs_paths(_scheme: &Scheme) -> bool {
        true
    }

    fn shares(_scheme: &Scheme) -> bool {
        true
    }

    fn open(_scheme: &Scheme, opening: Opening) -> Self {
        Self { paths: opening.paths, flowlet: None, marks: SeenMarks::default(), random: opening.random }
    }

    fn renew(&mut self, paths: Arc<[u32]>) {
        (self.paths, self.flowlet) = (paths, None);
    }

    fn stamp(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        if self.paths.is_empty() {
            return;
        }
        let known = self.flowlet.filter(|(_, last)| host.now.saturating_since(*last) < host.scheme.gap);
        let path = known.map_or_else(|| host.shared.next(self.paths.len(), self.random), |(path, _)| path);
        self.flowlet = Some((path, host.now));
        template.entropy = self.paths[path] ^ template.flow_hash;
        template.overlay = [0; 8];
        if !segment.flags.has(Flags::SYN) {
            template.overlay[0] = path as u8 + 1;
            template.overlay[1] = self.marks.report(host.now, host.scheme.relay).map_or(0, |path| path + 1);
        }
    }

    fn receive(&mut self, host: &mut Host<'_, Self>, header: &Header, segment: &Segment) -> bool {
        let [path, congested, ..] = header.overlay;
        if segment.flags.has(Flags::SYN) {
            return false;
        }
        if segment.ecn == Ecn::Ce
            && let Some(path) = path.checked_sub(1)
        {
            self.marks.marked(path);
        }
        if let Some(path) = congested.checked_sub(1) {
            host.shared.congested(path.into(), host.now, host.scheme.relay * 2);
        }
        false
    }
}
