//! A scenario: the file in which a user says what is to be simulated.
//!
//! The way is one: text, [`Scenario`] (read and checked at every point of its sweep), [`Point`] (one
//! run of it), [`Plan`] (everything that run needs, hosts and files found and flows drawn). Whatever
//! is wrong comes out as [`Diagnostics`]: all of it at once, each with its line, what was expected
//! there and the nearest right name.
//!
//! No file is opened here: the caller's loader gives the bytes of those that a scenario names.

mod diagnostic;
mod export;
mod nearest;
mod path;
mod plan;
mod point;
mod scenario;
mod schema;
mod section;
mod sections;
mod settings;
mod source;
mod sweep;
mod tree;
mod warnings;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use export::Routes;
pub use plan::Plan;
pub use point::{Point, sha256};
pub use scenario::Scenario;
pub use schema::schema;
pub use sections::Loader;
pub use sections::event::{Change, Event, LinkStates};
pub use sections::measure::Measure;
pub use sections::run::Run;
pub use sections::transport::Transport;
pub use source::Location;
