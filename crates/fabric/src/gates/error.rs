//! [`GateError`]: why a fabric has no gates, or why given gates are invalid.

use std::fmt;

use thiserror::Error;
use weft_units::plural;
use weft_wire::TagWidth;

use super::{Violation, WiringMistake};
use crate::FabricError;

/// Why a fabric has no gates, or why given gates are invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GateError {
    /// A number of switches that no fat-tree has.
    #[error(
        "this is not a fat-tree: it has {switches} switches, and a k-ary fat-tree has 5k²/4 of them, for even k: {} for \
         k = {below}, {} for k = {}", 5 * below * below / 4, 5 * (below + 2) * (below + 2) / 4, below + 2
    )]
    Switches {
        /// Number of switches.
        switches: usize,
        /// The greatest k whose fat-tree has fewer, at least 2.
        below: usize,
    },
    /// Too many misplaced cables for a fat-tree.
    #[error(
        "this is not a fat-tree: for k = {k}, {} of {cables} links between switches are misplaced: {mistakes}",
        .mistakes.0.len()
    )]
    Cables {
        /// The `k` that follows from the number of switches.
        k: u32,
        /// Number of cables between switches in such a fat-tree.
        cables: usize,
        /// The misplaced cables.
        mistakes: Named<WiringMistake>,
    },
    /// A fat-tree except for these cables.
    #[error("the fat-tree (k = {k}) is wired wrongly: {mistakes}")]
    Wiring {
        /// The `k` that follows from the number of switches.
        k: u32,
        /// The misplaced cables.
        mistakes: Named<WiringMistake>,
    },
    /// A host on an aggregation switch.
    #[error(
        "`{host}` is attached to `{switch}`, an aggregation switch of the fat-tree: expected servers on edge switches, \
         external routers on cores"
    )]
    Misplaced {
        /// The host.
        host: String,
        /// The switch.
        switch: String,
    },
    /// More servers on an edge switch than a fat-tree has there.
    #[error(
        "`{switch}` has {}: an edge switch of a fat-tree (k = {}) has at most {most}",
        plural(*servers as u64, "server"), 2 * most
    )]
    Servers {
        /// The edge switch.
        switch: String,
        /// Number of its servers.
        servers: usize,
        /// k/2.
        most: usize,
    },
    /// A server with several cables.
    #[error(
        "server `{host}` has {cables} links to switches: expected one, since a gate plan has one gate per server"
    )]
    Cabled {
        /// The server.
        host: String,
        /// Number of its cables.
        cables: usize,
    },
    /// More gates than DOWN numbers.
    #[error(
        "a fat-tree of k = {k} needs DOWN numbers up to {needs} (two for each of k³/4 servers), but the {} bits of a \
         {width} tag hold at most {}, enough for k up to {}{}",
        .width.down_bits(), .width.max_down(), largest(*.width), advice(*.width)
    )]
    Bits {
        /// The k of the fat-tree.
        k: u32,
        /// The largest DOWN that it needs.
        needs: u64,
        /// The tag's width.
        width: TagWidth,
    },
    /// More external links than UP numbers.
    #[error(
        "{places} external links per core need UP numbers up to {needs}, but the {} bits of a {width} tag hold at most \
         {}: use fewer external links per core", .width.up_bits(), .width.max_up()
    )]
    External {
        /// Places per core.
        places: u32,
        /// The largest UP that they need.
        needs: u64,
        /// The tag's width.
        width: TagWidth,
    },
    /// Fewer places per core than external links.
    #[error("`{switch}` has {links} external links, but {places} places per core were requested")]
    Places {
        /// The core.
        switch: String,
        /// Number of its external links.
        links: usize,
        /// Places per core.
        places: u32,
    },
    /// Gates given for an unknown switch, or another error in a name or a fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Gates given for a host.
    #[error("`{0}` is a host: only switches have gates")]
    Host(String),
    /// Gates given twice for a switch.
    #[error("the gates of `{0}` are given twice")]
    Twice(String),
    /// Given gates that would misroute frames.
    #[error("these gates cannot be used: {0}")]
    Broken(Named<Violation>),
}

/// The largest k whose DOWN numbers fit a tag.
fn largest(width: TagWidth) -> u32 {
    (1..).map(|half| 2 * half).take_while(|k: &u32| k.pow(3) / 2 <= width.max_down()).last().unwrap_or(0)
}

/// Advice for the error message.
fn advice(width: TagWidth) -> &'static str {
    match width {
        TagWidth::Narrow => ": use the wide tag (`--width wide`) on all switches",
        TagWidth::Wide => "",
    }
}

/// All errors; a message lists the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named<T>(pub Vec<T>);

impl<T> Named<T> {
    /// Maximum number in a message.
    pub const MOST: usize = 12;
}

impl<T: fmt::Display> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, what) in self.0.iter().take(Self::MOST).enumerate() {
            write!(f, "{}{what}", if index == 0 { "" } else { "; " })?;
        }
        match self.0.len().saturating_sub(Self::MOST) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
