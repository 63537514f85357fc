//! [`ListedFlow`]: a flow given individually.

use weft_units::{HostId, Time};

use crate::lane::Lane;

/// A flow given in a scenario or a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedFlow {
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// Its size.
    pub bytes: u64,
    /// When it starts.
    pub start: Time,
    /// Its class; the group's if `None`.
    pub class: Option<String>,
    /// Its DSCP; the group's if `None`.
    pub dscp: Option<u8>,
    /// Source and destination port; assigned if `None`.
    pub ports: Option<(u16, u16)>,
    /// Its interfaces; the group's if it prefers none.
    pub lane: Lane,
}
