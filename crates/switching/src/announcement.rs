//! [`Announcement`]: the last station that a switch announced, which is new at one of its ports or has moved there.

use weft_units::{Duration, Time};
use weft_wire::Mac;

/// How long after an announcement a search for a path from the station has its exploration id, so that both locate the
/// station as one flood ([`crate::floods`]). The frame that made the station known starts the search; on Linux the
/// switch receives that frame a second time, behind the announcement.
pub const TOGETHER: Duration = Duration::from_us(100);

/// The announcement.
#[derive(Default)]
pub(crate) struct Announcement {
    pub station: Mac,
    /// Its exploration id.
    pub id: u32,
    pub at: Time,
}

impl Announcement {
    /// Its id, if it announced `station` just before `now`.
    pub(crate) fn id_of(&self, station: Mac, now: Time) -> Option<u32> {
        (self.station == station && now <= self.at + TOGETHER).then_some(self.id)
    }
}
