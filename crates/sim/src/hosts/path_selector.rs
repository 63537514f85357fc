//! [`PathSelector`]: a host's choice of a path, by the entropy that hashing switches read.

use weft_switching::Header;
use weft_transport::Segment;
use weft_units::Time;

/// Chooses the paths of the packets that one end of a connection sends. By itself it changes nothing.
pub trait PathSelector: Default + Send {
    /// Changes the template of the end's packets before `_segment` is sent with it: mostly [`Header::entropy`].
    #[inline(always)]
    fn stamp(&mut self, _template: &mut Header, _segment: &Segment, _now: Time) {}

    /// The end has received `_segment`, mostly an acknowledgement, perhaps with a congestion mark.
    #[inline(always)]
    fn on_ack(&mut self, _segment: &Segment, _now: Time) {}
}

/// One path for each connection, as long as routes last.
#[derive(Default)]
pub struct OnePath;

impl PathSelector for OnePath {}
