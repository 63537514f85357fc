//! Rails: servers of several GPUs, each GPU a host with interfaces of its own into the network and into the server's scale-up
//! domain. GPUs of the same number are connected to the same leaf switches, their rail.
//!
//! One formula gives every size. With `P` pods of `S` servers of `G` GPUs on `R` rails in `Q` planes with `N` spines each:
//! `P S G` hosts, `P R Q` leaves with `S G / R` hosts and `N` uplinks each, `N Q` spines, `P S` scale-up switches.
//!
//! Rail-optimised (Alibaba HPN, SIGCOMM 2024; NVIDIA DGX SuperPOD): `R = G`. Rail-only (Wang et al., Hot Interconnects 2024):
//! no spines. Dual-plane (HPN): `Q = 2`. Racks such as GB200 NVL72: a server is a rack of `G = 72`, with `R = 4`, the GPUs of a
//! tray.

use super::parts::{add_hosts, add_switches, at_least, fits};
use crate::{Fabric, FabricBuilder, FabricError, LinkSpec};

/// The counts of a fabric of rails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rails {
    /// Groups of servers with leaves of their own.
    pub pods: u32,
    /// Servers of a pod.
    pub servers: u32,
    /// GPUs of a server, its scale-up domain; 1: no domains.
    pub gpus: u32,
    /// Rails of a pod: GPU `g` of a server is on rail `g` modulo this.
    pub rails: u32,
    /// Separate networks; each GPU has an interface in each.
    pub planes: u32,
    /// Spines of a plane, each connected to all its leaves; 0: rails are not connected.
    pub spines: u32,
}

/// The links of a fabric of rails.
#[derive(Clone, Copy, Debug)]
pub struct RailLinks<'a> {
    /// From a GPU to a leaf.
    pub host: &'a LinkSpec,
    /// From a leaf to a spine.
    pub uplink: &'a LinkSpec,
    /// From a GPU to the switch of its scale-up domain.
    pub scale_up: &'a LinkSpec,
}

/// Servers of GPUs on rails.
///
/// Nodes: `h0..` (GPU `g` of server `s` is `h(s G + g)`), leaves `l0..` (tier 1; by pod, then plane, then rail), spines `s0..`
/// (tier 2, by plane), scale-up switches `n0..` (tier 0, by server). Cables: hosts to leaves, in order of host and then plane;
/// leaves to spines; hosts to scale-up switches.
///
/// # Errors
/// [`FabricError::TooFew`], [`FabricError::TooMany`], [`FabricError::UnevenRails`], [`FabricError::SeparatePods`], and those of
/// [`FabricBuilder::connect`].
pub fn rails(counts: &Rails, links: RailLinks<'_>) -> Result<Fabric, FabricError> {
    let Rails { pods, servers, gpus, rails, planes, spines } = *counts;
    let of_kind = "fabric of rails";
    for (what, given) in
        [("pod", pods), ("server", servers), ("GPU", gpus), ("rail", rails), ("plane", planes)]
    {
        at_least(of_kind, what, 1, given)?;
    }
    if !gpus.is_multiple_of(rails) {
        return Err(FabricError::UnevenRails { gpus, rails });
    }
    let product = |factors: &[u32]| {
        factors.iter().try_fold(1_u64, |product, factor| product.checked_mul(u64::from(*factor)))
    };
    let sum =
        |parts: &[&[u32]]| parts.iter().try_fold(0_u64, |sum, factors| sum.checked_add(product(factors)?));
    fits(
        sum(&[&[pods, servers, gpus], &[pods, rails, planes], &[spines, planes], &[pods, servers]]),
        sum(&[&[pods, servers, gpus, planes], &[pods, rails, planes, spines], &[pods, servers, gpus]]),
    )?;
    if spines == 0 && pods > 1 {
        return Err(FabricError::SeparatePods { pods });
    }
    let several = |count: u32, of: &str| if count > 1 { format!("{count} {of} of ") } else { String::new() };
    let (of_pods, of_planes) = (several(pods, "pods"), several(planes, "planes"));
    let mut builder = FabricBuilder::new(format!(
        "{of_pods}{servers}x{gpus} GPUs on {of_planes}rails {rails}, spines {spines}"
    ));
    let pod_of = |index: u32, each: u32| (pods > 1).then(|| index / each);
    let hosts = add_hosts(&mut builder, pods * servers * gpus, |host| pod_of(host, servers * gpus))?;
    let leaves =
        add_switches(&mut builder, 'l', pods * planes * rails, 1, |leaf| pod_of(leaf, planes * rails))?;
    let spine_switches = add_switches(&mut builder, 's', spines * planes, 2, |_| None)?;
    let leaf = |pod: u32, plane: u32, rail: u32| leaves[((pod * planes + plane) * rails + rail) as usize];
    for (index, &host) in (0..).zip(&hosts) {
        let (pod, rail) = (index / (servers * gpus), index % gpus % rails);
        for plane in 0..planes {
            builder.connect(host, leaf(pod, plane, rail), links.host)?;
        }
    }
    for (index, &leaf) in (0..).zip(&leaves) {
        let plane = index / rails % planes;
        let of_plane = (plane * spines) as usize..((plane + 1) * spines) as usize;
        for &spine in &spine_switches[of_plane] {
            builder.connect(leaf, spine, links.uplink)?;
        }
    }
    if gpus > 1 {
        builder.scale_up(gpus, links.scale_up)?;
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EqualCost;
    use weft_units::{Duration, HostId, PortId, Rate};

    fn built(counts: Rails) -> Result<Fabric, FabricError> {
        let link = LinkSpec::default();
        let scale_up = LinkSpec::new(Rate::from_gbps(3_600), Duration::from_ns(250));
        rails(&counts, RailLinks { host: &link, uplink: &link, scale_up: &scale_up })
    }

    const OPTIMISED: Rails = Rails { pods: 2, servers: 4, gpus: 8, rails: 8, planes: 1, spines: 4 };

    #[test]
    fn sizes_follow_from_one_formula() {
        for counts in [
            OPTIMISED,
            Rails { pods: 1, spines: 0, ..OPTIMISED },
            Rails { planes: 2, rails: 1, ..OPTIMISED },
            Rails { pods: 1, servers: 3, gpus: 72, rails: 4, planes: 1, spines: 6 },
        ] {
            let Rails { pods, servers, gpus, rails, planes, spines } = counts;
            let fabric = built(counts).unwrap();
            let (hosts, leaves) = (pods * servers * gpus, pods * rails * planes);
            let switches = leaves + spines * planes + pods * servers;
            let cables = hosts * planes + leaves * spines + hosts;
            assert_eq!(
                (fabric.host_count(), fabric.switch_count(), fabric.cable_count()),
                (hosts as usize, switches as usize, cables as usize),
                "{counts:?}"
            );
            let leaf = fabric.find("l0").unwrap();
            assert_eq!(fabric.ports(leaf).len() as u32, servers * gpus / rails + spines, "{counts:?}");
        }
    }

    #[test]
    fn a_gpu_reaches_its_server_its_rail_and_other_rails_over_two_two_and_four_links() {
        let fabric = built(OPTIMISED).unwrap();
        let paths = EqualCost::compute(&fabric);
        let distance = |a: u32, b: u32| paths.distance(HostId(a), HostId(b));
        // Its server, its rail, another rail, its rail in another pod.
        assert_eq!([1, 8, 9, 32].map(|other| distance(0, other)), [2, 2, 4, 4].map(Some));
        let hops = |a: u32, b: u32| paths.next_hops(fabric.host_node(HostId(a)), HostId(b)).to_vec();
        // Port 0 leads to the leaf, port 1 to the scale-up switch.
        assert_eq!((hops(0, 7), hops(0, 8), hops(0, 9)), (vec![PortId(1)], vec![PortId(0)], vec![PortId(0)]));
        let domain = fabric.find("n1").unwrap();
        assert_eq!(paths.next_hops(domain, HostId(10)), [PortId(2)]);
        assert!(paths.next_hops(domain, HostId(0)).is_empty());
    }

    #[test]
    fn a_gpu_without_its_scale_up_link_takes_the_network() {
        let fabric = built(OPTIMISED).unwrap();
        let link = fabric.link_named("h3-n0").unwrap();
        let paths = EqualCost::compute_where(&fabric, |id| id != link);
        assert_eq!(paths.distance(HostId(0), HostId(3)), Some(4));
        assert_eq!(paths.distance(HostId(0), HostId(2)), Some(2));
        assert_eq!(paths.next_hops(fabric.host_node(HostId(3)), HostId(0)), [PortId(0)]);
    }

    #[test]
    fn rails_without_spines_have_no_path_between_rails() {
        let fabric = built(Rails { pods: 1, spines: 0, ..OPTIMISED }).unwrap();
        let paths = EqualCost::compute(&fabric);
        assert_eq!([1, 8, 9].map(|other| paths.distance(HostId(0), HostId(other))), [Some(2), Some(2), None]);
    }

    #[test]
    fn impossible_counts_are_named() {
        for (counts, message) in [
            (
                Rails { rails: 3, ..OPTIMISED },
                "8 GPUs cannot be divided among 3 rails: expected a divisor of 8",
            ),
            (
                Rails { spines: 0, ..OPTIMISED },
                "without spines, 2 pods are not connected: expected 1 pod, or at least 1 spine",
            ),
        ] {
            assert_eq!(built(counts).unwrap_err().to_string(), message);
        }
        assert!(matches!(built(Rails { gpus: 0, ..OPTIMISED }), Err(FabricError::TooFew { .. })));
        let many = Rails { pods: u32::MAX, servers: u32::MAX, ..OPTIMISED };
        assert!(matches!(built(many), Err(FabricError::TooMany { .. })));
    }
}
