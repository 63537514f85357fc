//! [`ListedFlow`]: a flow given individually.

use weft_units::{HostId, Time};

use crate::lane::Lane;
use crate::places::Places;

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

impl ListedFlow {
    /// Why it cannot run between these places.
    pub(crate) fn check(&self, places: &Places) -> Result<(), String> {
        match [self.src, self.dst].into_iter().find(|host| host.index() >= places.len()) {
            Some(host) => Err(format!("there is no host {host} in the fabric")),
            None if self.src == self.dst => {
                Err(format!("its source and destination are both `{}`", places.name(self.src)))
            }
            None if self.bytes == 0 => Err("its size is 0 bytes".into()),
            None => Ok(()),
        }
    }
}
