//! [`Segments`]: the packets of a flow, and the times that links take for them.

use weft_fabric::Link;
use weft_transport::Framing;
use weft_units::{Bytes, Duration, Rate};

/// The time to send a packet over a link.
pub(super) fn tx(link: &Link, ip_bytes: u64) -> Duration {
    link.rate.tx_time(Bytes(wire(link, ip_bytes)))
}

pub(super) fn wire(link: &Link, ip_bytes: u64) -> u64 {
    u64::from(link.overhead.wire_bytes(ip_bytes as u32))
}

/// Minimum delay plus minimum transmission time of a packet over the links.
pub(super) fn way<'a>(links: impl Iterator<Item = &'a Link> + Clone, ip_bytes: u64) -> Duration {
    let delay = links.clone().map(|link| link.delay).min();
    delay.unwrap_or(Duration::ZERO) + least_tx(links, ip_bytes)
}

pub(super) fn least_tx<'a>(links: impl Iterator<Item = &'a Link>, ip_bytes: u64) -> Duration {
    links.map(|link| tx(link, ip_bytes)).min().unwrap_or(Duration::ZERO)
}

/// The segments of a flow; sizes are those of the IP packets in bytes.
pub(super) struct Segments {
    /// Size of a full segment.
    pub(super) full: u64,
    /// Number of full segments before the last.
    pub(super) before_last: u64,
    /// Size of the last.
    pub(super) last: u64,
}

impl Segments {
    /// The segments of a flow of `bytes`.
    pub(super) fn of(framing: &Framing, bytes: u64) -> Self {
        let (packets, rest) = framing.packets(bytes);
        let last = u64::from(framing.headers) + u64::from(rest);
        Self { full: framing.full_packet().into(), before_last: packets - 1, last }
    }

    /// The sum of the sizes of all segments as `of` gives them.
    pub(super) fn bytes(&self, of: impl Fn(u64) -> u64) -> u64 {
        of(self.full).saturating_mul(self.before_last).saturating_add(of(self.last))
    }

    /// The time that the links of a hop take for all segments, less the time for the last.
    pub(super) fn waiting<'a>(&self, mut links: impl Iterator<Item = &'a Link> + Clone) -> Duration {
        let several = links.clone();
        match (links.next(), links.next()) {
            (Some(link), None) => tx(link, self.full) * self.before_last,
            _ => {
                let rate = several.clone().map(|link| link.rate.bps()).fold(0, u64::saturating_add);
                let of = |ip_bytes| several.clone().map(|link| wire(link, ip_bytes)).min().unwrap_or(0);
                let all = Rate::from_bps(rate).tx_time(Bytes(self.bytes(of)));
                all.saturating_sub(least_tx(several, self.last))
            }
        }
    }
}
