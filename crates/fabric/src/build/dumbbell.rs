//! The dumbbell: two switches, hosts on each, one bottleneck between them.

use super::parts::{add_hosts, add_switches, at_least, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec, Shape};

/// `left` hosts on switch `s0` (`h0..`), `right` hosts on switch `s1` (those after), and the cable
/// `s0`-`s1` like `bottleneck`.
///
/// # Errors
/// [`FabricError::TooFew`], [`FabricError::TooMany`], and those of [`FabricBuilder::connect`].
pub fn dumbbell(
    left: u32,
    right: u32,
    host: &LinkSpec,
    bottleneck: &LinkSpec,
) -> Result<Fabric, FabricError> {
    at_least("dumbbell", "host on the left", 1, left)?;
    at_least("dumbbell", "host on the right", 1, right)?;
    let hosts = u64::from(left) + u64::from(right);
    fits(Some(hosts + 2), Some(hosts + 1))?;
    let mut builder = FabricBuilder::new(format!("dumbbell {left}-{right}"));
    let hosts = add_hosts(&mut builder, left + right, |_| None)?;
    let switches = add_switches(&mut builder, 's', 2, 1, |_| None)?;
    for (i, &node) in hosts.iter().enumerate() {
        builder.connect(node, switches[usize::from(i >= left as usize)], host)?;
    }
    builder.connect(switches[0], switches[1], bottleneck)?;
    builder.build_as(Shape::Dumbbell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_hang_on_their_side_and_the_bottleneck_comes_last() {
        let fabric = dumbbell(3, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
        let switch =
            |host| fabric.edge_switch(weft_units::HostId(host)).map(|id| fabric.node(id).name.as_str());
        assert_eq!((switch(2), switch(3)), (Some("s0"), Some("s1")));
        assert_eq!(fabric.link_label(weft_units::LinkId(10)), "s0->s1");
        assert!(dumbbell(0, 1, &LinkSpec::default(), &LinkSpec::default()).is_err());
    }
}
