//! [`Misses`]: frames without a rule, as reported by the program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, RawFd};

use aya::maps::{MapData, RingBuf};
use weft_switching::tag_forward::Addresses;
use weft_units::PortId;

use super::layout;
use crate::error::PlaneError;
use crate::layout::COPY_BYTES;
use crate::names::map_in_kernel;
use crate::plane::Plane;

/// A frame without a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Miss {
    /// The ingress port.
    pub port: PortId,
    /// Its source and destination.
    pub addresses: Addresses,
    /// Its length in bytes.
    pub len: usize,
    /// Its bytes including VLAN tags, truncated to [`COPY_BYTES`].
    pub frame: Vec<u8>,
}

/// The ring buffer of misses. Its descriptor becomes readable when there is one; the rate per port is limited like
/// that of explorations (`exploration_rate`, `exploration_burst`).
pub struct Misses(RingBuf<MapData>);

impl AsRawFd for Misses {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Misses {
    /// The next miss, if there is one.
    pub fn take(&mut self) -> Option<Miss> {
        loop {
            let item = self.0.next()?;
            if let Some(miss) = read(&item) {
                return Some(miss);
            }
        }
    }
}

fn read(item: &[u8]) -> Option<Miss> {
    let (head, bytes) = item.split_at_checked(size_of::<layout::Miss>())?;
    // SAFETY: integers and arrays of them without padding in between; any bytes are a value.
    let head = unsafe { head.as_ptr().cast::<layout::Miss>().read_unaligned() };
    let address = |bytes: [u8; 16]| match head.is_v6 {
        0 => IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])),
        _ => IpAddr::V6(Ipv6Addr::from(bytes)),
    };
    let addresses = Addresses { source: address(head.source), destination: address(head.destination) };
    let len = head.len as usize;
    let frame = bytes.get(..len.min(COPY_BYTES))?.to_vec();
    Some(Miss { port: PortId(head.port as u16), addresses, len, frame })
}

impl Plane {
    /// The source of misses; `None` if it was already taken.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn take_misses(&mut self) -> Result<Option<Misses>, PlaneError> {
        let map = self.ebpf.take_map(&map_in_kernel("misses"));
        Ok(map.map(RingBuf::try_from).transpose()?.map(Misses))
    }
}
