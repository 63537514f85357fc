//! [`Ctx`]: the parts of a run that the hosts of a partition work with.

use super::nics::Nics;
use super::world::World;
use crate::network::Network;

/// The surroundings of the hosts during one event.
pub struct Ctx<'r, 'n> {
    /// The partition's links, packets and events.
    pub net: &'r mut Network<'n>,
    /// The links on which hosts send.
    pub nics: &'r Nics,
    /// The knowledge that all hosts of the run share.
    pub world: &'r World<'r>,
}
