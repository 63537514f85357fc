//! MTU requirements of tags on links between switches.

use thiserror::Error;
use weft_wire::TAG_LEN;

/// A port between switches with too small an MTU for tagged packets of hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("its MTU is {mtu}, but packets of {hosts} bytes with a tag need at least {}", mtu_needed(*hosts))]
pub struct MtuTooSmall {
    /// The port's MTU.
    pub mtu: u32,
    /// The MTU of host ports.
    pub hosts: u32,
}

/// The MTU that a port between switches needs for packets of up to `hosts` bytes: 8 more, for the tag.
pub const fn mtu_needed(hosts: u32) -> u32 {
    hosts.saturating_add(TAG_LEN as u32)
}

/// Checks that a port between switches can carry tagged packets from ports with the MTU `hosts`.
///
/// # Errors
/// [`MtuTooSmall`], with the required MTU.
pub const fn check_mtu(mtu: u32, hosts: u32) -> Result<(), MtuTooSmall> {
    if mtu < mtu_needed(hosts) { Err(MtuTooSmall { mtu, hosts }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_between_switches_needs_eight_bytes_more() {
        assert_eq!((check_mtu(1508, 1500), check_mtu(9216, 9000)), (Ok(()), Ok(())));
        let refused = check_mtu(1507, 1500).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "its MTU is 1507, but packets of 1500 bytes with a tag need at least 1508"
        );
    }
}
