//! Rails: servers of several GPUs, each GPU a host with interfaces of its own into the network and into the server's scale-up
//! domain. GPUs of the same number are connected to the same leaf switches, their rail.
//!
//! One formula gives every size. With `P` pods of `S` servers of `G` GPUs on `R` rails of `T` leaves in `Q` planes with `N` spines
//! each: `P S G` hosts with `Q T` links into the network, `P R Q T` leaves with `S G / R` hosts and `N` uplinks each, `N Q` spines,
//! `P S` scale-up switches.
//!
//! Rail-optimised (Alibaba HPN, SIGCOMM 2024; NVIDIA DGX SuperPOD): `R = G`. Rail-only (Wang et al., Hot Interconnects 2024):
//! no spines. Dual-plane (HPN): `Q = 2`. Dual ToR (HPN): `T = 2`. Racks such as GB200 NVL72: a server is a rack of `G = 72`, with `R = 4`, the GPUs of a
//! tray.

use weft_units::plural;

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
    /// Leaves of a rail in each plane: each of its GPUs has a link to every one.
    pub tors: u32,
    /// Separate networks; each GPU has interfaces in each.
    pub planes: u32,
    /// Spines of a plane, each connected to all its leaves; 0: rails are not connected.
    pub spines: u32,
    /// The word for the GPUs of a scale-up domain in the fabric's name and in errors, such as `server`.
    pub domain: &'static str,
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
/// Nodes: `h0..` (GPU `g` of server `s` is `h(s G + g)`), leaves `l0..` (tier 1; by pod, then plane, then rail, those of a
/// rail next to each other), spines `s0..` (tier 2, by plane), scale-up switches `n0..` (tier 0, by server). Cables: hosts to
/// leaves, in order of host, then plane, then leaf; leaves to spines; hosts to scale-up switches.
///
/// # Errors
/// [`FabricError::TooFew`], [`FabricError::TooMany`], [`FabricError::UnevenRails`], [`FabricError::SeparatePods`], and those of
/// [`FabricBuilder::connect`].
pub fn rails(counts: &Rails, links: RailLinks<'_>) -> Result<Fabric, FabricError> {
    let Rails { pods, servers, gpus, rails, tors, planes, spines, domain } = *counts;
    let of_kind = "fabric of rails";
    for (what, given) in [
        ("pod", pods),
        (domain, servers),
        ("GPU", gpus),
        ("rail", rails),
        ("leaf per rail", tors),
        ("plane", planes),
    ] {
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
        sum(&[&[pods, servers, gpus], &[pods, rails, planes, tors], &[spines, planes], &[pods, servers]]),
        sum(&[
            &[pods, servers, gpus, planes, tors],
            &[pods, rails, planes, tors, spines],
            &[pods, servers, gpus],
        ]),
    )?;
    if spines == 0 && pods > 1 {
        return Err(FabricError::SeparatePods { pods });
    }
    let several = |count: u32, of: &str| if count > 1 { format!("{count} {of} of ") } else { String::new() };
    let (of_pods, of_planes) = (several(pods, "pods"), several(planes, "planes"));
    let of_tors = if tors > 1 { format!(" of {tors} leaves") } else { String::new() };
    let on = plural(rails, "rail");
    let with = if spines > 0 { format!(", {}", plural(spines, "spine")) } else { String::new() };
    let servers_of = plural(servers, domain);
    let mut builder = FabricBuilder::new(format!(
        "{of_pods}{servers_of} of {} on {of_planes}{on}{of_tors}{with}",
        plural(gpus, "GPU")
    ));
    let pod_of = |index: u32, each: u32| (pods > 1).then(|| index / each);
    let hosts = add_hosts(&mut builder, pods * servers * gpus, |host| pod_of(host, servers * gpus))?;
    let of_pod = planes * rails * tors;
    let leaves = add_switches(&mut builder, 'l', pods * of_pod, 1, |leaf| pod_of(leaf, of_pod))?;
    let spine_switches = add_switches(&mut builder, 's', spines * planes, 2, |_| None)?;
    let of_rail = |pod: u32, plane: u32, rail: u32| {
        let first = ((pod * planes + plane) * rails + rail) * tors;
        &leaves[first as usize..(first + tors) as usize]
    };
    for (index, &host) in (0..).zip(&hosts) {
        let (pod, rail) = (index / (servers * gpus), index % gpus % rails);
        for plane in 0..planes {
            for &leaf in of_rail(pod, plane, rail) {
                builder.connect(host, leaf, links.host)?;
            }
        }
    }
    for (index, &leaf) in (0..).zip(&leaves) {
        let plane = index / (rails * tors) % planes;
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

    const OPTIMISED: Rails =
        Rails { pods: 2, servers: 4, gpus: 8, rails: 8, tors: 1, planes: 1, spines: 4, domain: "server" };

    #[test]
    fn sizes_follow_from_one_formula() {
        for counts in [
            OPTIMISED,
            Rails { pods: 1, spines: 0, ..OPTIMISED },
            Rails { planes: 2, rails: 1, ..OPTIMISED },
            Rails { pods: 1, servers: 3, gpus: 72, rails: 4, tors: 1, planes: 1, spines: 6, domain: "rack" },
            Rails { pods: 1, servers: 3, gpus: 72, rails: 4, tors: 2, planes: 1, spines: 6, domain: "rack" },
            Rails { tors: 2, ..OPTIMISED },
            Rails { tors: 3, planes: 2, rails: 4, ..OPTIMISED },
            Rails { tors: 2, pods: 1, spines: 0, ..OPTIMISED },
        ] {
            let Rails { pods, servers, gpus, rails, tors, planes, spines, .. } = counts;
            let fabric = built(counts).unwrap();
            let (hosts, leaves) = (pods * servers * gpus, pods * rails * planes * tors);
            let switches = leaves + spines * planes + pods * servers;
            let cables = hosts * planes * tors + leaves * spines + hosts;
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
    fn with_dual_tors_each_gpu_is_connected_to_both_leaves_of_its_rail_in_each_plane() {
        let counts = Rails { tors: 2, planes: 2, servers: 2, gpus: 4, rails: 4, ..OPTIMISED };
        let fabric = built(counts).unwrap();
        assert_eq!(
            fabric.name(),
            "2 pods of 2 servers of 4 GPUs on 2 planes of 4 rails of 2 leaves, 4 spines"
        );
        // A pod has four rails of two leaves in each plane; h8 is the first GPU of the second pod.
        for (host, leaves) in
            [("h0", [0, 1, 8, 9]), ("h3", [6, 7, 14, 15]), ("h4", [0, 1, 8, 9]), ("h8", [16, 17, 24, 25])]
        {
            let links = fabric.ports(fabric.find(host).unwrap()).iter();
            let names: Vec<_> = links.map(|&link| fabric.node(fabric.link(link).to).name.clone()).collect();
            assert_eq!(names[..4], leaves.map(|leaf| format!("l{leaf}")), "{host}");
            assert!(names.len() == 5 && names[4].starts_with('n'), "{host}: {names:?}");
        }
        for (leaf, spine, is_joined) in [("l1", "s0", true), ("l8", "s0", false), ("l9", "s4", true)] {
            let [leaf, spine] = [leaf, spine].map(|name| fabric.find(name).unwrap());
            assert_eq!(fabric.link_between(leaf, spine).is_some(), is_joined);
        }
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
        for counts in [Rails { gpus: 0, ..OPTIMISED }, Rails { tors: 0, ..OPTIMISED }] {
            assert!(matches!(built(counts), Err(FabricError::TooFew { given: 0, .. })));
        }
        let ports = built(Rails { tors: 70_000, ..OPTIMISED });
        assert!(matches!(ports, Err(FabricError::TooMany { .. } | FabricError::TooManyPorts { .. })));
        let many = Rails { pods: u32::MAX, servers: u32::MAX, ..OPTIMISED };
        assert!(matches!(built(many), Err(FabricError::TooMany { .. })));
    }
}
