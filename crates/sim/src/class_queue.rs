//! Ports with several queues: strict priority or deficit round robin
//! (Shreedhar and Varghese, SIGCOMM 1995).
//!
//! The next packet is known only when the line becomes free, so such a port costs one event per
//! packet more than a FIFO port.

use std::collections::VecDeque;

use weft_fabric::{Limit, QueueSpec, Scheduler};
use weft_switching::{DropReason, Header};

use crate::packet::PacketId;
use crate::served_port::ServedPort;

/// Bytes that a queue of weight one may send per round: a full Ethernet frame on the wire.
const QUANTUM: u32 = 1538;

struct Class {
    packets: VecDeque<(PacketId, u32)>,
    bytes: u64,
    quantum: u32,
    deficit: u32,
}

/// The queues of one port. The port's limit and ECN threshold apply to each queue separately.
pub struct ClassQueue {
    classes: Vec<Class>,
    scheduler: Scheduler,
    limit: Limit,
    ecn_threshold: Option<Limit>,
    /// The class whose turn it is in a DRR round, and whether it has received its quantum.
    turn: usize,
    served: bool,
}

impl ClassQueue {
    /// The queues that `spec` describes; `None` if it is a single FIFO queue.
    pub fn new(spec: &QueueSpec) -> Option<Self> {
        let class = |weight: u32| Class {
            packets: VecDeque::new(),
            bytes: 0,
            quantum: QUANTUM.saturating_mul(weight.max(1)),
            deficit: 0,
        };
        (!spec.is_fifo()).then(|| Self {
            classes: spec.classes.iter().map(|spec| class(spec.weight)).collect(),
            scheduler: spec.scheduler,
            limit: spec.limit,
            ecn_threshold: spec.ecn_threshold,
            turn: 0,
            served: false,
        })
    }

    /// The queue of a packet, by its DSCP's class selector (RFC 2474, section 4.2.2): selector 0 goes
    /// to the last queue, each higher one to the queue before; selectors beyond the number of queues
    /// share queue 0, the most urgent.
    fn class_of(&self, header: &Header) -> usize {
        let selector = usize::from(header.traffic_class >> 5);
        (7 - selector).saturating_sub(8_usize.saturating_sub(self.classes.len())).min(self.classes.len() - 1)
    }

    fn is_empty(&self) -> bool {
        self.classes.iter().all(|class| class.packets.is_empty())
    }

    fn next_of_round(&mut self) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        loop {
            let class = &mut self.classes[self.turn];
            if let Some(&(_, wire_bytes)) = class.packets.front() {
                if !self.served {
                    class.deficit = class.deficit.saturating_add(class.quantum);
                    self.served = true;
                }
                if class.deficit >= wire_bytes {
                    class.deficit -= wire_bytes;
                    return Some(self.turn);
                }
            } else {
                class.deficit = 0;
            }
            self.turn = (self.turn + 1) % self.classes.len();
            self.served = false;
        }
    }
}

impl ServedPort for ClassQueue {
    fn waiting(&self) -> (u64, u32) {
        let bytes = self.classes.iter().map(|class| class.bytes).sum();
        (bytes, self.classes.iter().map(|class| class.packets.len() as u32).sum())
    }

    fn push(&mut self, header: &Header, packet: PacketId, wire_bytes: u32) -> Result<bool, DropReason> {
        let class = self.class_of(header);
        let queue = &mut self.classes[class];
        let packets = queue.packets.len() as u32;
        let full = match self.limit {
            Limit::Packets(limit) => packets >= limit,
            Limit::Bytes(limit) => queue.bytes + u64::from(wire_bytes) > limit,
        };
        if full {
            return Err(DropReason::QueueFull);
        }
        let marked = self.ecn_threshold.is_some_and(|threshold| match threshold {
            Limit::Packets(threshold) => packets >= threshold,
            Limit::Bytes(threshold) => queue.bytes >= threshold,
        });
        queue.packets.push_back((packet, wire_bytes));
        queue.bytes += u64::from(wire_bytes);
        Ok(marked)
    }

    fn pop(&mut self) -> Option<(PacketId, u32)> {
        let class = match self.scheduler {
            Scheduler::StrictPriority => self.classes.iter().position(|class| !class.packets.is_empty())?,
            Scheduler::Drr => self.next_of_round()?,
        };
        let queue = &mut self.classes[class];
        let (packet, wire_bytes) = queue.packets.pop_front()?;
        queue.bytes -= u64::from(wire_bytes);
        Some((packet, wire_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_fabric::ClassSpec;

    fn queues(scheduler: Scheduler, weights: &[u32]) -> ClassQueue {
        let classes = weights.iter().map(|&weight| ClassSpec { weight }).collect();
        let spec = QueueSpec { classes, scheduler, ..QueueSpec::fifo(Limit::Packets(100)) };
        ClassQueue::new(&spec).unwrap()
    }

    /// A packet of one of two classes.
    fn of(class: u8) -> Header {
        Header { traffic_class: (1 - class) << 5, ..Header::default() }
    }

    #[test]
    fn strict_priority_serves_the_urgent_queue_first() {
        let mut queues = queues(Scheduler::StrictPriority, &[1, 1]);
        queues.push(&of(1), 10, 1500).unwrap();
        queues.push(&of(0), 20, 1500).unwrap();
        queues.push(&of(1), 11, 1500).unwrap();
        let order: Vec<_> = std::iter::from_fn(|| queues.pop()).map(|(packet, _)| packet).collect();
        assert_eq!(order, [20, 10, 11]);
    }

    #[test]
    fn drr_shares_bytes_by_weight_whatever_the_packet_sizes() {
        let mut queues = queues(Scheduler::Drr, &[3, 1]);
        for packet in 0..100 {
            queues.push(&of(0), packet, 300).unwrap();
            queues.push(&of(1), packet, 1500).unwrap();
        }
        let mut bytes = [0_u32; 2];
        while queues.classes.iter().all(|class| !class.packets.is_empty()) {
            let (_, wire_bytes) = queues.pop().unwrap();
            bytes[usize::from(wire_bytes == 1500)] += wire_bytes;
        }
        let ratio = f64::from(bytes[0]) / f64::from(bytes[1]);
        assert!((2.4..3.6).contains(&ratio), "{bytes:?}");
    }

    #[test]
    fn a_full_queue_refuses_and_the_others_do_not() {
        let spec =
            QueueSpec { classes: vec![ClassSpec { weight: 1 }; 2], ..QueueSpec::fifo(Limit::Packets(1)) };
        let mut queues = ClassQueue::new(&spec).unwrap();
        assert_eq!(queues.push(&of(0), 1, 100), Ok(false));
        assert_eq!(queues.push(&of(0), 2, 100), Err(DropReason::QueueFull));
        assert_eq!(queues.push(&of(1), 3, 100), Ok(false));
    }

    #[test]
    fn the_class_selector_chooses_the_queue() {
        let header = |selector: u8| Header { traffic_class: selector << 5, ..Header::default() };
        let eight = queues(Scheduler::StrictPriority, &[1; 8]);
        assert_eq!((eight.class_of(&header(7)), eight.class_of(&header(0))), (0, 7));
        let two = queues(Scheduler::StrictPriority, &[1; 2]);
        assert_eq!([7, 1, 0].map(|selector| two.class_of(&header(selector))), [0, 0, 1]);
    }
}
