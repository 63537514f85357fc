//! [`Pacers`]: the links of a partition's hosts, each with the senders that share it.

use super::pacer::Pacer;
use crate::network::Network;

/// A [`Pacer`] for each link, numbered like its turn and added when a sender needs it.
#[derive(Default)]
pub struct Pacers(Vec<Pacer>);

impl Pacers {
    /// The number of the pacer of `nic`, a link of a host.
    pub fn of(&mut self, nic: u32, net: &Network<'_>) -> u32 {
        let number = net.turns.number(nic).expect("hosts pace on each of their links");
        for (link, number) in net.turns.links().zip(0..=number).skip(self.0.len()) {
            self.0.push(Pacer::new(link, number, net));
        }
        number
    }

    /// The number of the pacer of `nic`, if a sender has needed it or one of a later link.
    pub fn get(&self, nic: u32, net: &Network<'_>) -> Option<u32> {
        net.turns.number(nic).filter(|number| (*number as usize) < self.0.len())
    }

    /// The pacer with a number that [`Pacers::of`] returned.
    #[inline]
    pub fn at(&mut self, number: u32) -> &mut Pacer {
        &mut self.0[number as usize]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.0.iter().map(|pacer| size_of::<Pacer>() + pacer.heap_bytes()).sum()
    }
}
