//! [`EdgeSwitches`]: the switches with hosts, numbered.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId};

/// The switches with hosts, each host being connected to one switch besides that of its scale-up domain.
pub(crate) struct EdgeSwitches {
    /// Switch numbers by node.
    numbers: Vec<Option<u16>>,
    /// Switch numbers by host.
    of_host: Arc<[u16]>,
    /// One host of each switch.
    members: Arc<[HostId]>,
}

impl EdgeSwitches {
    /// The edge switches of `fabric`.
    ///
    /// # Errors
    /// The reason, if a host is connected to several switches or to none.
    pub(crate) fn new(fabric: &Fabric) -> Result<Self, String> {
        let neighbours = |node: NodeId| {
            let all = fabric.ports(node).iter().map(|link| fabric.link(*link).to);
            all.filter(|to| !fabric.node(*to).is_scale_up())
        };
        let is_edge = |node: &NodeId| !fabric.node(*node).is_scale_up();
        let has_hosts =
            |node: &NodeId| is_edge(node) && neighbours(*node).any(|to| fabric.node(to).is_host());
        let mut numbers = vec![None; fabric.nodes().len()];
        let mut count = 0;
        for node in fabric.switches().filter(has_hosts) {
            numbers[node.index()] = Some(count as u16);
            count += 1;
        }
        let of_host = fabric.hosts().iter().map(|host| {
            let wrong = |how| format!("host `{}` is connected to {how}", fabric.node(*host).name);
            let mut switches = neighbours(*host);
            let first = switches.next().and_then(|to| numbers[to.index()]);
            let number = first.ok_or_else(|| wrong("no switch"))?;
            let is_alone = switches.all(|other| numbers[other.index()] == Some(number));
            if is_alone { Ok(number) } else { Err(wrong("several switches")) }
        });
        let of_host = of_host.collect::<Result<Arc<[u16]>, String>>()?;
        let mut members = vec![HostId(0); count];
        for (host, number) in (0..).zip(of_host.iter()) {
            members[usize::from(*number)] = HostId(host);
        }
        Ok(Self { numbers, of_host, members: members.into() })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// The number of the switch at `node`, if it has hosts.
    pub(crate) fn number(&self, node: NodeId) -> Option<u16> {
        self.numbers[node.index()]
    }

    /// The switch number of each host.
    pub(crate) fn of_hosts(&self) -> Arc<[u16]> {
        Arc::clone(&self.of_host)
    }

    /// One host of each switch.
    pub(crate) fn members(&self) -> Arc<[HostId]> {
        Arc::clone(&self.members)
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec, build};

    use super::*;

    #[test]
    fn switches_with_hosts_are_numbered_and_each_host_has_one() {
        let link = LinkSpec::default();
        let fabric = build::spine_leaf(2, 3, 2, &link, &link).unwrap();
        let edge = EdgeSwitches::new(&fabric).unwrap();
        assert_eq!((edge.count(), &*edge.of_hosts()), (3, &[0, 0, 1, 1, 2, 2][..]));
        assert_eq!(*edge.members(), [1, 3, 5].map(HostId));
        let number = |name: &str| edge.number(fabric.find(name).unwrap());
        assert_eq!(["l0", "l2", "s0"].map(number), [Some(0), Some(2), None]);
    }

    #[test]
    fn a_host_of_two_switches_is_named() {
        let mut builder = FabricBuilder::new("two-homed");
        let host = builder.add_host("h0", 0, None).unwrap();
        let other = builder.add_host("h1", 0, None).unwrap();
        let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
        for (a, b) in [(host, switches[0]), (host, switches[1]), (other, switches[0])] {
            builder.connect(a, b, &LinkSpec::default()).unwrap();
        }
        let reason = EdgeSwitches::new(&builder.build().unwrap()).err().unwrap();
        assert_eq!(reason, "host `h0` is connected to several switches");
    }
}
