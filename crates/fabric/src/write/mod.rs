//! Writers: [`Fabric`](crate::Fabric) to text for [`read`](crate::read), so that a fabric can be changed by
//! hand or with NetworkX. Reading it back gives the same nodes and links in the same order; the shape is
//! [`Shape::Custom`](crate::Shape::Custom).

mod graphml;
mod node_link;
mod toml;

pub use self::toml::toml;
pub use graphml::graphml;
pub use node_link::node_link;

use crate::Fabric;

/// The fabric in the format given by the extension of `path`, as [`read::file`](crate::read::file) reads it.
///
/// # Errors
/// An unknown extension, or a name that the format cannot represent.
pub fn file(path: &str, fabric: &Fabric) -> Result<String, String> {
    // A scenario says how hosts queue, not the file of its fabric.
    let fabric = &fabric.without_host_queue();
    match path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("toml") => Ok(toml(fabric)),
        Some("graphml" | "xml") => graphml(fabric),
        Some("json") => Ok(node_link(fabric)),
        _ => Err(format!(
            "`{path}` is not a fabric file that Weft writes: its name must end in .toml, .graphml, .xml or .json"
        )),
    }
}
