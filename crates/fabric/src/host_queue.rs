//! [`HostQueue`]: the queues of the hosts' own interfaces. Apart from [`QueueSpec`](crate::QueueSpec), which describes a
//! port of a switch: a host does not drop or mark its own packets, but makes its connections wait.

use std::fmt;
use std::str::FromStr;

use weft_units::{LinkId, QuantityError};

use crate::{Fabric, Limit};

/// The queue of a host's interface.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HostQueue {
    /// Connections wait while this much is queued; nothing is dropped, nothing is marked.
    Waits(Limit),
    /// The queue of a switch's port: it drops and marks.
    AsSwitches,
}

impl HostQueue {
    /// The text of [`HostQueue::AsSwitches`].
    pub const AS_SWITCHES: &'static str = "as-switches";
}

impl fmt::Display for HostQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits(limit) => limit.fmt(f),
            Self::AsSwitches => f.write_str(Self::AS_SWITCHES),
        }
    }
}

impl FromStr for HostQueue {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == Self::AS_SWITCHES {
            return Ok(Self::AsSwitches);
        }
        let limit: Limit = text.parse()?;
        match limit.count() {
            0 => Err(QuantityError {
                text: text.to_owned(),
                expected: "a queue size such as \"1000 packets\"",
                why: "a queue without space never sends".to_owned(),
            }),
            _ => Ok(Self::Waits(limit)),
        }
    }
}

impl Fabric {
    /// This fabric whose hosts have this queue. The queues of a host's interface and flow control stay: they decide the
    /// order of its packets.
    pub fn with_host_queue(mut self, queue: HostQueue) -> Self {
        self.host_queue = match queue {
            HostQueue::AsSwitches => return self,
            HostQueue::Waits(limit) => Some(limit),
        };
        let nodes = &self.nodes;
        for (id, link) in (0..).map(LinkId).zip(&mut self.links) {
            if !nodes[link.from.index()].is_host() {
                continue;
            }
            self.host_ports.push((id, link.queue.clone()));
            let own = &mut link.queue;
            (own.ecn_threshold, own.red, own.trim, own.trim_queue) = (None, None, false, None);
            // With flow control it is the space at the other end of the link, from which thresholds derive.
            if own.pfc.is_none() {
                own.limit = Limit::Unlimited;
            }
        }
        self
    }

    /// This fabric without a host queue: as a file describes it.
    pub fn without_host_queue(&self) -> Self {
        let mut fabric = self.clone();
        for (id, queue) in std::mem::take(&mut fabric.host_ports) {
            fabric.links[id.index()].queue = queue;
        }
        fabric.host_queue = None;
        fabric
    }

    /// The limit at which hosts make their connections wait; `None` if their interfaces drop and mark as ports of switches do.
    pub fn host_queue(&self) -> Option<Limit> {
        self.host_queue
    }
}

#[cfg(test)]
mod tests {
    use weft_units::{Duration, Rate};

    use super::*;
    use crate::{LinkSpec, QueueSpec, build};

    #[test]
    fn the_text_of_a_host_queue_reads_back() {
        for (text, queue) in [
            ("4 packets", HostQueue::Waits(Limit::Packets(4))),
            ("unlimited", HostQueue::Waits(Limit::Unlimited)),
            ("1100 packets", HostQueue::Waits(Limit::Packets(1100))),
            ("as-switches", HostQueue::AsSwitches),
        ] {
            assert_eq!(text.parse(), Ok(queue));
            assert_eq!(queue.to_string(), text);
        }
        assert!("0 packets".parse::<HostQueue>().unwrap_err().why.contains("never sends"));
    }

    #[test]
    fn only_interfaces_of_hosts_change() {
        let queue = QueueSpec::fifo(Limit::Packets(100)).marking(Limit::Packets(20));
        let spec = LinkSpec::new(Rate::from_gbps(1), Duration::from_us(1)).with_queue(queue.clone());
        let fabric = build::ring(3, 1, &spec, &spec).unwrap();
        assert_eq!(fabric.clone().with_host_queue(HostQueue::AsSwitches).links(), fabric.links());
        let links = fabric.links().to_vec();
        let waits = fabric.with_host_queue(HostQueue::Waits(Limit::Packets(50)));
        assert_eq!(waits.host_queue(), Some(Limit::Packets(50)));
        assert_eq!(waits.without_host_queue().links(), links);
        for link in waits.links() {
            let own = QueueSpec::fifo(Limit::Unlimited);
            assert_eq!(link.queue, if waits.node(link.from).is_host() { own } else { queue.clone() });
        }
    }
}
