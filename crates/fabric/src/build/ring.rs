//! The ring: switches in a circle, hosts on each.

use weft_units::plural;

use super::parts::{add_hosts, add_switches, at_least, connect_hosts, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// `switches` switches `s0..`, each connected to the next and the last to the first, with `hosts_per_switch`
/// hosts each. Cables: hosts, then around the ring from `s0`-`s1`.
///
/// # Errors
/// [`FabricError::TooFew`] below three switches, [`FabricError::TooMany`], and those of
/// [`FabricBuilder::connect`].
pub fn ring(
    switches: u32,
    hosts_per_switch: u32,
    host: &LinkSpec,
    trunk: &LinkSpec,
) -> Result<Fabric, FabricError> {
    at_least("ring", "switch", 3, switches)?;
    at_least("ring", "host per switch", 1, hosts_per_switch)?;
    let wide = u64::from(switches);
    let hosts = wide * u64::from(hosts_per_switch);
    fits(hosts.checked_add(wide), hosts.checked_add(wide))?;
    let mut builder =
        FabricBuilder::new(format!("ring {switches} switches, {} each", plural(hosts_per_switch, "host")));
    let hosts = add_hosts(&mut builder, hosts as u32, |_| None)?;
    let switches = add_switches(&mut builder, 's', switches, 1, |_| None)?;
    connect_hosts(&mut builder, &hosts, &switches, hosts_per_switch, host)?;
    for (i, &switch) in switches.iter().enumerate() {
        builder.connect(switch, switches[(i + 1) % switches.len()], trunk)?;
    }
    builder.build_as(Shape::Ring)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_switch_is_joined_to_the_first() {
        let spec = LinkSpec::default();
        let fabric = ring(5, 2, &spec, &spec).unwrap();
        assert_eq!((fabric.host_count(), fabric.switch_count(), fabric.cable_count()), (10, 5, 15));
        assert_eq!(fabric.link_label(weft_units::LinkId(28)), "s4->s0");
        assert!(ring(2, 1, &spec, &spec).is_err(), "two switches are no ring");
    }
}
