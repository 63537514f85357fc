//! [`Hook`]: how a program is attached.

/// How a program is attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hook {
    /// A tcx link: Linux 6.6 and later.
    Tcx,
    /// A filter of the clsact qdisc: older kernels.
    Clsact,
}

impl Hook {
    /// The folder of its pins.
    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Tcx => "links",
            Self::Clsact => "filters",
        }
    }

    /// The kind of object in its folder.
    pub(super) const fn pins(self) -> &'static str {
        match self {
            Self::Tcx => "link",
            Self::Clsact => "program",
        }
    }
}
