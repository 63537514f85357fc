//! [`Pacers`]: the links of a partition's hosts, each with the senders that share it.

use std::collections::HashMap;

use super::pacer::Pacer;
use crate::network::Network;

/// A [`Pacer`] for each link, added when a sender needs it.
#[derive(Default)]
pub struct Pacers {
    pacers: Vec<Pacer>,
    by_nic: HashMap<u32, u32>,
}

impl Pacers {
    /// The number of the pacer of `nic`.
    pub fn of(&mut self, nic: u32, net: &Network<'_>) -> u32 {
        let pacers = &mut self.pacers;
        *self.by_nic.entry(nic).or_insert_with(|| {
            let number = pacers.len() as u32;
            pacers.push(Pacer::new(nic, number, net));
            number
        })
    }

    /// The number of the pacer, if a sender has needed one.
    pub fn get(&self, nic: u32) -> Option<u32> {
        self.by_nic.get(&nic).copied()
    }

    /// The pacer with a number that [`Pacers::of`] returned.
    #[inline]
    pub fn at(&mut self, number: u32) -> &mut Pacer {
        &mut self.pacers[number as usize]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let pacers = self.pacers.iter().map(|pacer| size_of::<Pacer>() + pacer.heap_bytes());
        pacers.sum::<usize>() + self.by_nic.capacity() * size_of::<(u32, u32)>()
    }
}
