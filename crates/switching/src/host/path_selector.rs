//! [`PathSelector`]: a host's choice of a path, by the entropy that hashing switches read.

use std::sync::Arc;

use weft_transport::Segment;
use weft_units::{Rate, Time};

use crate::Header;

/// The surroundings of one end of a connection.
pub struct Host<'a, P: PathSelector + ?Sized> {
    /// The parameters.
    pub scheme: &'a P::Scheme,
    /// The state that the ends at this host share if their connections lead over the same paths.
    pub shared: &'a mut P::Shared,
    /// The time.
    pub now: Time,
}

/// A connection when one of its ends is opened.
pub struct Opening {
    /// Path hashes of distinct paths to the other end, if the scheme asked for them and switches follow hashes alone.
    pub paths: Arc<[u32]>,
    /// Random bits, different for each end.
    pub random: u64,
    /// The rate of the interface.
    pub rate: Rate,
}

/// Chooses the paths of the packets that one end of a connection sends. The provided methods change nothing.
pub trait PathSelector: Send {
    /// The parameters, the same at all hosts.
    type Scheme: Sync;
    /// State that ends at one host share.
    type Shared: Default + Send;

    /// Whether [`Opening::paths`] is needed.
    fn needs_paths(_scheme: &Self::Scheme) -> bool {
        false
    }

    /// Whether ends share state.
    fn shares(_scheme: &Self::Scheme) -> bool {
        false
    }

    /// The selector of a new end.
    fn open(scheme: &Self::Scheme, opening: Opening) -> Self;

    /// The distinct paths to the other end have changed.
    fn renew(&mut self, _paths: Arc<[u32]>) {}

    /// Changes the template of the end's packets before `_segment` is sent with it: mostly [`Header::entropy`].
    #[inline(always)]
    fn stamp(&mut self, _host: &mut Host<'_, Self>, _template: &mut Header, _segment: &Segment) {}

    /// The end has received `_segment` with `_header`. Returns whether the selector keeps it from TCP, for ever or until
    /// [`PathSelector::release`].
    #[inline(always)]
    fn receive(&mut self, _host: &mut Host<'_, Self>, _header: &Header, _segment: &Segment) -> bool {
        false
    }

    /// A retransmission timeout of the end has expired.
    fn timed_out(&mut self, _host: &mut Host<'_, Self>) {}

    /// Whether a segment that was kept back now goes to TCP; it is written to `_segment`. Asked until it returns false.
    #[inline(always)]
    fn release(&mut self, _now: Time, _segment: &mut Segment) -> bool {
        false
    }

    /// When [`PathSelector::release`] is to be asked at the latest; [`Time::MAX`] for never.
    #[inline(always)]
    fn wakes_at(&self) -> Time {
        Time::MAX
    }

    /// Whether the selector sends a segment of its own, which it writes to `_segment` and `_template`. Asked until it
    /// returns false; [`PathSelector::stamp`] does not see it.
    #[inline(always)]
    fn own(&mut self, _host: &mut Host<'_, Self>, _template: &mut Header, _segment: &mut Segment) -> bool {
        false
    }
}

/// Keeps one path per connection while the routes do not change.
pub struct OnePath;

impl PathSelector for OnePath {
    type Scheme = ();
    type Shared = ();

    fn open(_scheme: &(), _opening: Opening) -> Self {
        Self
    }
}
