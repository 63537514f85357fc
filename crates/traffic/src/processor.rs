//! [`Processor`]: the kinds of processors whose steps have records.

/// The kind of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Processor {
    /// It computes: an accelerator, or a CPU of a GOAL file.
    #[default]
    Compute,
    /// The CPU beside an accelerator, which issues operations and waits for them.
    Host,
    /// An interface that sends one message after the other.
    Interface,
}

impl Processor {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Host => "host",
            Self::Interface => "interface",
        }
    }
}
