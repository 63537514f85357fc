//! [`PathManager`]: which subflows a connection opens. The connection opens them once fully established, as in Linux.

use super::Config;
use crate::config::Mptcp;

/// The maximum number of subflows of a connection.
pub const MAX_SUBFLOWS: usize = 32;

/// The number of addresses that each host has for a connection, at least 1. Both hosts know them from the start:
/// ADD_ADDR is not modelled. The first subflow runs between address 0 of both hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// On this side.
    pub local: u8,
    /// On the other side.
    pub remote: u8,
}

impl Addresses {
    /// The addresses of each side that a full mesh of at most [`MAX_SUBFLOWS`] subflows uses, opened by this side.
    pub fn in_use(self) -> Self {
        let remote = usize::from(self.remote.max(1)).min(MAX_SUBFLOWS);
        let local = MAX_SUBFLOWS.div_ceil(remote).min(self.local.max(1).into());
        Self { local: local as u8, remote: remote as u8 }
    }
}

impl Default for Addresses {
    fn default() -> Self {
        Self { local: 1, remote: 1 }
    }
}

/// A subflow to open: its SYN waits in `poll_transmit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewSubflow {
    /// Its number on this side.
    pub subflow: usize,
    /// The number of this side's address. The source port must differ from those of all other subflows.
    pub local: u8,
    /// The number of the other side's address.
    pub remote: u8,
}

/// The subflows that remain to be opened.
#[derive(Clone, Debug)]
pub(crate) struct PathManager {
    addresses: Addresses,
    /// Subflows opened so far, including the first.
    named: u16,
}

impl PathManager {
    pub(crate) fn new(addresses: Addresses) -> Self {
        Self { addresses, named: 1 }
    }

    /// The addresses of the next subflow.
    pub(crate) fn next(&mut self, cfg: &Config) -> Option<(u8, u8)> {
        let Addresses { local, remote } = self.addresses;
        let (local, remote) = (u16::from(local.max(1)), u16::from(remote.max(1)));
        let number = self.named;
        let (all, pair) = match cfg.plain.mptcp {
            Mptcp::Off => return None,
            Mptcp::Fullmesh => (local * remote, ((number / remote) as u8, (number % remote) as u8)),
            Mptcp::Ndiffports => (u16::from(cfg.plain.subflows), (0, 0)),
        };
        if number >= all.min(MAX_SUBFLOWS as u16) {
            return None;
        }
        self.named += 1;
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn opened(mptcp: Mptcp, local: u8, remote: u8) -> Vec<(u8, u8)> {
        let plain = config::Config { mptcp, subflows: 3, ..config::Config::profile("linux").unwrap() };
        let cfg = Config::new(&plain).unwrap();
        let mut manager = PathManager::new(Addresses { local, remote });
        std::iter::from_fn(|| manager.next(&cfg)).collect()
    }

    #[test]
    fn fullmesh_opens_every_pair_but_the_first() {
        assert_eq!(opened(Mptcp::Fullmesh, 2, 2), [(0, 1), (1, 0), (1, 1)]);
        assert_eq!(opened(Mptcp::Fullmesh, 3, 1), [(1, 0), (2, 0)]);
        assert_eq!(opened(Mptcp::Fullmesh, 1, 1), []);
        assert_eq!(opened(Mptcp::Fullmesh, 255, 255).len(), MAX_SUBFLOWS - 1);
        assert_eq!(opened(Mptcp::Fullmesh, 0, 0), [], "0 addresses count as 1");
    }

    #[test]
    fn a_full_mesh_uses_the_addresses_of_its_subflows() {
        for (local, remote) in [(1, 1), (2, 2), (3, 1), (1, 40), (40, 1), (8, 8), (32, 3), (5, 7), (0, 0)] {
            let mut pairs = opened(Mptcp::Fullmesh, local, remote);
            pairs.push((0, 0));
            let used = Addresses {
                local: pairs.iter().map(|pair| pair.0).max().unwrap() + 1,
                remote: pairs.iter().map(|pair| pair.1).max().unwrap() + 1,
            };
            assert_eq!(Addresses { local, remote }.in_use(), used, "{local} and {remote}");
        }
    }

    #[test]
    fn ndiffports_opens_between_the_same_two_addresses() {
        assert_eq!(opened(Mptcp::Ndiffports, 4, 4), [(0, 0), (0, 0)]);
    }
}
