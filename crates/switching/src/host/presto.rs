//! Presto: a source spreads a flow over all paths in turn, in cells of 64 KB, and the destination restores the order before
//! TCP sees it (He et al., "Presto: edge-based load balancing for fast datacenter networks", SIGCOMM 2015). The paper's
//! packets name their path by a shadow MAC address; here the host knows for each path a hash that leads to it.

use std::sync::Arc;

use weft_transport::{Flags, Segment};
use weft_units::{Bytes, Duration, Time, params};

use super::cell_order::CellOrder;
use super::path_selector::{Host, Opening, PathSelector};
use crate::Header;
use crate::descriptor::{Descriptor, Need};
use crate::hash::pick;
use crate::host::over::{OverHashAlone, over_paths};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "presto",
    summary: "Presto: a source sends cells of 64 KB over all paths in turn, the destination restores their order",
    decides: "hosts",
    observes: "nothing",
    source: "He et al., SIGCOMM 2015",
    params: Scheme::PARAMS,
    needs: &[Need::NewHost],
    split: over_paths,
    ..Descriptor::AT_HOSTS
};

params! {
    /// The parameters.
    pub struct Scheme {
        /// scheme of the switches, with its defaults
        over: OverHashAlone = OverHashAlone::Ecmp;
        /// bytes that take the same path
        cell: Bytes = Bytes(65_536), in Bytes(1)..=Bytes(u64::MAX), elsewhere "ns3-load-balance 10 packets";
        /// estimate of reordering times before the first; a gap is waited for twice as long as the estimate
        wait: Duration = Duration::from_us(100);
    }
}

/// Presto's state at one end of a connection.
pub struct Presto {
    paths: Arc<[u32]>,
    path: usize,
    /// The cell of the packets that are sent, and its bytes so far.
    cell: u32,
    bytes: u64,
    /// The packets that arrive.
    order: CellOrder,
}

impl PathSelector for Presto {
    type Scheme = Scheme;
    type Shared = ();

    fn needs_paths(_scheme: &Scheme) -> bool {
        true
    }

    fn open(scheme: &Scheme, opening: Opening) -> Self {
        Self {
            path: pick(opening.random, opening.paths.len()),
            paths: opening.paths,
            cell: 0,
            bytes: 0,
            order: CellOrder::new(scheme.wait),
        }
    }

    fn renew(&mut self, paths: Arc<[u32]>) {
        self.path %= paths.len().max(1);
        self.paths = paths;
        // The next packet begins a cell, because the path may be another one.
        (self.cell, self.bytes) = (self.cell.wrapping_add(1), 0);
    }

    /// Algorithm 1.
    fn stamp(&mut self, host: &mut Host<'_, Self>, template: &mut Header, segment: &Segment) {
        let len = u64::from(segment.len);
        if self.bytes + len > host.scheme.cell.0 {
            self.bytes = 0;
            self.cell = self.cell.wrapping_add(1);
            self.path = (self.path + 1) % self.paths.len().max(1);
        }
        self.bytes += len;
        if let Some(path) = self.paths.get(self.path) {
            template.entropy = path ^ template.flow_hash;
        }
        template.overlay[4..].copy_from_slice(&self.cell.to_be_bytes());
    }

    fn receive(&mut self, host: &mut Host<'_, Self>, header: &Header, segment: &Segment) -> bool {
        if segment.flags.has(Flags::SYN) {
            self.order.begin(segment.seq.wrapping_add(1));
        }
        let [.., a, b, c, d] = header.overlay;
        let is_data = segment.len > 0 && !segment.flags.has(Flags::SYN);
        is_data && self.order.hold_back(u32::from_be_bytes([a, b, c, d]), segment, host.now)
    }

    fn release(&mut self, now: Time, segment: &mut Segment) -> bool {
        self.order.release(now, segment)
    }

    fn wakes_at(&self) -> Time {
        self.order.wakes_at()
    }
}
