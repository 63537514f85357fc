//! Readers: text to [`Fabric`], one file per format.
//!
//! All formats share one meaning. A node has a name and may have a `role` (`host` or `switch`), a `tier` (a
//! number, or one of the names `host`, `tor`, `edge`, `leaf`, `aggregation`, `core`, `spine`) and a `pod`. If
//! no node of a file has a role or a tier, nodes with one cable are hosts. A switch without a tier gets its
//! distance from the nearest host. A link may have a `rate`, `delay`, `queue`, `ecn_threshold`, `overhead`
//! and `up`; missing attributes come from the caller's defaults. Quantities are strings with a unit.
//! `rate_back` etc. are for the reverse direction of an undirected link. TOML has no other attributes. In GraphML and JSON
//! an attribute that seems to be meant for one of these is rejected; others have no effect. The parts that a reader
//! leaves out are in [`Fabric::notes`].
//!
//! Files of other programs have fewer attributes: `htsim/`, `conweave.rs`, `infragraph/`.

pub(crate) mod attributes;
mod conweave;
mod error;
mod graph;
mod graphml;
mod htsim;
mod infragraph;
mod json_text;
mod known;
mod node_link;
mod notes;
mod toml;
mod ways;
mod yaml;
mod zoo;

pub use self::toml::toml;
pub use error::{ErrorKind, ReadError};
pub use graphml::graphml;
pub use node_link::node_link;

use crate::{Fabric, FabricBuilder, LinkSpec};

/// Reads a fabric from the bytes of a file. The extension of `path` gives the format: `.toml`, `.graphml` (or
/// `.xml`), `.json`, `.topo` (htsim), `.txt` (conweave-ns3, HPCC, SimAI; of SimAI
/// any other name, too), `.yaml` or `.yml` (InfraGraph). The default name of the fabric is the file's.
///
/// # Errors
/// [`ReadError`] with the line or element.
pub fn file(path: &str, bytes: &[u8], defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(builder(path, bytes, defaults)?.build()?)
}

/// Like `file`, but hosts are optional, for callers that need only switches and their cables.
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
        "yaml" | "yml" => infragraph::graph,
        "topo" => {
            let (mut builder, notes) = htsim::builder(text(bytes)?, stem, defaults)?;
            builder.note(notes.about(path));
            return Ok(builder);
        }
        // The names that SimAI's script gives have no ending.
        _ if conweave::is_simai(bytes) => conweave::graph,
        _ => return Err(ErrorKind::Ending { path: path.to_owned() }.into()),
    };
    let mut graph = reader(text(bytes)?, stem, defaults)?;
    let notes = std::mem::take(&mut graph.notes);
    let mut builder = graph.into_builder()?;
    builder.note(notes.about(path));
    Ok(builder)
}

/// The text of a file, without the byte order mark that editors on Windows write.
fn text(bytes: &[u8]) -> Result<&str, ReadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        ReadError::from(ErrorKind::NotUtf8).at(valid, valid.len())
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
