//! Scale-up domains: hosts joined by a switch of their own, as GPUs by NVLink and NVSwitch.
//!
//! The domain is one switch, whatever the number of chips: NVLink spreads a transfer over all of them. Its queues are unlimited,
//! because its links have credits. Rate: 900 GB/s in both directions together for NVLink 4 (H100), 1.8 TB/s for NVLink 5 (B200).

use crate::{FabricBuilder, FabricError, Limit, LinkSpec, QueueSpec, SCALE_UP_TIER};
use weft_units::{Duration, Rate};

/// The rate of NVLink 4, each direction.
pub const SCALE_UP_RATE: Rate = Rate::from_gbps(3_600);
/// The delay of a link to a scale-up switch.
pub const SCALE_UP_DELAY: Duration = Duration::from_ns(250);

/// A link to a scale-up switch: nothing is lost.
pub fn scale_up_link(rate: Rate, delay: Duration) -> LinkSpec {
    LinkSpec::new(rate, delay).with_queue(QueueSpec::fifo(Limit::Unlimited))
}

impl FabricBuilder {
    /// Joins each `size` hosts, in order, by a scale-up switch: `n0`, `n1` ... The last links of the fabric.
    ///
    /// # Errors
    /// [`FabricError::ScaleUpSize`] if `size` is below 2 or does not divide the number of hosts,
    /// [`FabricError::DuplicateName`], and those of [`Self::connect`].
    pub fn scale_up(&mut self, size: u32, link: &LinkSpec) -> Result<(), FabricError> {
        let hosts = self.hosts().to_vec();
        if size < 2 || !hosts.len().is_multiple_of(size as usize) {
            return Err(FabricError::ScaleUpSize { hosts: hosts.len() as u64, size });
        }
        let shape = self.shape();
        for (number, members) in hosts.chunks(size as usize).enumerate() {
            let pod = self.nodes()[members[0].index()].pod;
            let switch = self.add_switch(format!("n{number}"), SCALE_UP_TIER, pod)?;
            for &host in members {
                self.connect(host, switch, link)?;
            }
        }
        self.keep_shape(shape);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EqualCost, Fabric, Shape, build};
    use weft_units::HostId;

    fn joined(fabric: &Fabric, size: u32) -> Result<Fabric, FabricError> {
        let mut builder = fabric.edit();
        builder.scale_up(size, &scale_up_link(SCALE_UP_RATE, SCALE_UP_DELAY))?;
        builder.build()
    }

    #[test]
    fn hosts_of_one_leaf_prefer_their_domain() {
        let link = LinkSpec::default();
        let plain = build::spine_leaf(2, 2, 8, &link, &link).unwrap();
        let fabric = joined(&plain, 4).unwrap();
        assert_eq!((fabric.shape(), fabric.switch_count()), (Shape::SpineLeaf, 8));
        let paths = EqualCost::compute(&fabric);
        let hops = |other| paths.next_hops(fabric.host_node(HostId(0)), HostId(other))[0].0;
        assert_eq!([1, 3, 4, 8].map(hops), [1, 1, 0, 0]);
        // Elsewhere, the paths are those without domains.
        let before = EqualCost::compute(&plain);
        for node in plain.switches() {
            for host in (0..16).map(HostId) {
                assert_eq!(paths.next_hops(node, host), before.next_hops(node, host));
            }
        }
        assert_eq!(paths.class_count(), before.class_count());
    }

    #[test]
    fn domains_that_do_not_fit_are_named() {
        let link = LinkSpec::default();
        let plain = build::spine_leaf(2, 2, 8, &link, &link).unwrap();
        for size in [0, 1, 3, 32] {
            let error = joined(&plain, size).unwrap_err().to_string();
            let expected = "expected at least 2 hosts per domain, and a number that divides 16";
            assert_eq!(error, format!("16 hosts cannot form scale-up domains of {size}: {expected}"));
        }
        let twice = joined(&joined(&plain, 4).unwrap(), 4).unwrap_err();
        assert!(matches!(twice, FabricError::DuplicateName { .. }), "{twice}");
    }

    #[test]
    fn a_domain_joins_hosts_only_and_a_host_is_in_one() {
        let link = LinkSpec::default();
        let plain = build::spine_leaf(2, 2, 8, &link, &link).unwrap();
        let with = |ends: &[&str]| {
            let mut builder = plain.edit();
            for name in ["a", "b"] {
                builder.add_switch(name, SCALE_UP_TIER, None).unwrap();
            }
            for pair in ends.chunks(2) {
                let ends = [builder.find(pair[0]).unwrap(), builder.find(pair[1]).unwrap()];
                builder.connect(ends[0], ends[1], &link).unwrap();
            }
            builder.build().unwrap_err().to_string()
        };
        assert_eq!(
            with(&["h0", "a", "l0", "a"]),
            "scale-up switch `a` is connected to `l0`: a scale-up domain connects hosts only"
        );
        assert_eq!(
            with(&["h0", "a", "h0", "b"]),
            "host `h0` has links to the scale-up switches `a` and `b`: expected at most one link"
        );
    }
}
