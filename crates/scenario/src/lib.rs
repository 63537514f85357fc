//! A scenario: the file that describes a simulation.
//!
//! Text becomes a [`Scenario`] (read and checked at every point of its sweep), then [`Point`]s (one run
//! each), then a [`Plan`] (everything that run needs: hosts and files resolved, flows drawn). Errors are
//! collected as [`Diagnostics`]: all together, each with its line, the expected value and the nearest valid
//! name.
//!
//! No file is opened here: the caller's loader returns the bytes of files that a scenario names.

mod baseline;
mod bundle;
mod change;
mod diagnostic;
mod export;
mod fingerprint;
mod full_frame;
mod key;
mod link_states;
mod longest_path;
mod nearest;
mod overload;
mod path;
mod plan;
mod planning;
mod point;
mod reading;
mod scenario;
mod schema;
mod scheme_names;
mod section;
mod sections;
mod sets;
mod settings;
mod source;
mod sweep;
mod synonym;
mod tree;
mod variant;
mod warnings;

pub use bundle::{RANK, pack};
pub use change::{Cables, Change, Event, LinkChange, NewRate};
pub use diagnostic::{Diagnostic, Diagnostics};
pub use export::Routes;
pub use link_states::LinkStates;
pub use overload::Overload;
pub use plan::Plan;
pub use point::{Point, sha256};
pub use scenario::Scenario;
pub use schema::schema;
pub use sections::Loader;
pub use sections::measure::Measure;
pub use sections::run::Run;
pub use sections::transport::Transport;
pub use source::Location;
