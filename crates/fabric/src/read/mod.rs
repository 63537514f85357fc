//! Readers: text to [`Fabric`], one file per format.
//!
//! All formats share one meaning. A node has a name and may have a `role` (`host` or `switch`), a `tier` (a
//! number, or one of the names `host`, `tor`, `edge`, `leaf`, `aggregation`, `core`, `spine`) and a `pod`. If
//! no node of a file has a role or a tier, nodes with one cable are hosts. A switch without a tier gets its
//! distance from the nearest host. A link may have a `rate`, `delay`, `queue`, `ecn_threshold`, `overhead`
//! and `up`; missing attributes come from the caller's defaults. Quantities are strings with a unit.
//! `rate_back` etc. are for the reverse direction of an undirected link. Other attributes are rejected,
//! except those for drawing and naming in GraphML and JSON.
//!
//! Files of other simulators have fewer attributes: `htsim.rs`, `conweave.rs`.

pub(crate) mod attributes;
mod conweave;
mod error;
mod graph;
mod graphml;
mod htsim;
mod known;
mod node_link;
mod toml;
mod ways;

pub use self::toml::toml;
pub use error::{ReadError, Why};
pub use graphml::graphml;
pub use node_link::node_link;

use crate::{Fabric, FabricBuilder, LinkSpec};

/// Reads a fabric from the bytes of a file. The extension of `path` gives the format: `.toml`, `.graphml` (or
/// `.xml`), `.json`, `.topo` (htsim), `.txt` (conweave-ns3, HPCC). The default name of the fabric is the file's.
///
/// # Errors
/// [`ReadError`] with the line or element.
pub fn file(path: &str, bytes: &[u8], defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(builder(path, bytes, defaults)?.build()?)
}

/// The same, but hosts are optional, for callers that need only switches and their cables.
///
/// # Errors
/// As [`file`].
pub fn network(path: &str, bytes: &[u8], defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(builder(path, bytes, defaults)?.build_network()?)
}

fn builder(path: &str, bytes: &[u8], defaults: &LinkSpec) -> Result<FabricBuilder, ReadError> {
    let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (stem, ending) = base.rsplit_once('.').unwrap_or((base, ""));
    let reader = match ending.to_ascii_lowercase().as_str() {
        "toml" => toml::graph,
        "graphml" | "xml" => graphml::graph,
        "json" => node_link::graph,
        "txt" => conweave::graph,
        "topo" => return htsim::builder(text(bytes)?, stem, defaults),
        _ => return Err(Why::Ending { path: path.to_owned() }.into()),
    };
    reader(text(bytes)?, stem, defaults)?.into_builder()
}

/// The text of a file.
fn text(bytes: &[u8]) -> Result<&str, ReadError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        ReadError::from(Why::NotUtf8).at(valid, valid.len())
    })
}
