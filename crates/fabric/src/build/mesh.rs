//! The full mesh: every switch connected to every other, hosts on each.

use weft_units::plural;

use super::parts::{add_hosts, add_switches, at_least, connect_hosts, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// `switches` switches `s0..`, fully connected, with `hosts_per_switch` hosts each. Cables: hosts, then
/// `s0`-`s1`, `s0`-`s2`, ..., `s1`-`s2`, ...
///
/// # Errors
/// [`FabricError::TooFew`] below two switches, [`FabricError::TooMany`], and those of
/// [`FabricBuilder::connect`].
pub fn mesh(
    switches: u32,
    hosts_per_switch: u32,
    host: &LinkSpec,
    trunk: &LinkSpec,
) -> Result<Fabric, FabricError> {
    at_least("mesh", "switch", 2, switches)?;
    at_least("mesh", "host per switch", 1, hosts_per_switch)?;
    let wide = u64::from(switches);
    let hosts = wide * u64::from(hosts_per_switch);
    fits(hosts.checked_add(wide), hosts.checked_add(wide * (wide - 1) / 2))?;
    let mut builder =
        FabricBuilder::new(format!("mesh {switches} switches, {} each", plural(hosts_per_switch, "host")));
    let hosts = add_hosts(&mut builder, hosts as u32, |_| None)?;
    let switches = add_switches(&mut builder, 's', switches, 1, |_| None)?;
    connect_hosts(&mut builder, &hosts, &switches, hosts_per_switch, host)?;
    for (i, &switch) in switches.iter().enumerate() {
        for &other in &switches[i + 1..] {
            builder.connect(switch, other, trunk)?;
        }
    }
    builder.build_as(Shape::Mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_switches_are_joined_once() {
        let spec = LinkSpec::default();
        let fabric = mesh(5, 2, &spec, &spec).unwrap();
        assert_eq!((fabric.host_count(), fabric.switch_count(), fabric.cable_count()), (10, 5, 20));
        assert!(fabric.switches().all(|switch| fabric.ports(switch).len() == 6));
        assert!(mesh(1, 1, &spec, &spec).is_err());
        assert!(matches!(mesh(u32::MAX, 1, &spec, &spec), Err(FabricError::TooMany { .. })));
    }
}
