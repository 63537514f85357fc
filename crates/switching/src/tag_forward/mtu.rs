//! What tags need of the links between switches.

use thiserror::Error;
use weft_wire::TAG_LEN;

/// A port between switches that cannot carry what hosts send once it is tagged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("its MTU is {mtu}, and packets of {hosts} bytes with a tag need {}: set it to at least that", mtu_needed(*hosts))]
pub struct MtuTooSmall {
    /// The port's.
    pub mtu: u32,
    /// That of the ports to hosts.
    pub hosts: u32,
}

/// The MTU that a port between switches needs where hosts send packets of up to `hosts` bytes: 8 more, in which the
/// tag is.
pub const fn mtu_needed(hosts: u32) -> u32 {
    hosts.saturating_add(TAG_LEN as u32)
}

/// Whether a port between switches carries what comes from ports with the MTU `hosts`, tagged.
///
/// # Errors
/// [`MtuTooSmall`], with what it needs.
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
            "its MTU is 1507, and packets of 1500 bytes with a tag need 1508: set it to at least that"
        );
    }
}
