//! Pins, which outlive the daemon: maps and attachments in a directory of the BPF file system named after the switch.
//!
//! ```text
//! <pin-dir>/<name>/maps/stations       a map
//! <pin-dir>/<name>/layouts/stations    its layout: a symbolic link to a hash (btf.rs)
//! <pin-dir>/<name>/program             the program
//! <pin-dir>/<name>/next/               pins of a starting daemon, not yet in use (stage.rs)
//! <pin-dir>/<name>/links/0:eth1        a tcx link of port 0, the interface eth1
//! <pin-dir>/<name>/filters/0:eth1      the program of a clsact filter there
//! ```

mod bpffs;
mod directory;
mod hook;
mod owned;
mod stage;

pub(crate) use bpffs::{at, list};
pub use directory::Pins;
pub use hook::Hook;
pub use owned::{PinKind, Pinned};
pub(crate) use stage::Staged;
