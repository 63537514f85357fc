//! [`Connections`]: MPTCP connections by the tokens of their keys; combines the paper's `pending_capable`
//! (listener's key not yet seen) and `mptcp_connections`.

use hashbrown::HashTable;
use weft_wire::mptcp::{Key, Version};

use crate::clock::Time;
use crate::hash::Keyed;
use crate::list::List;
use crate::slab::{Handle, Slab};

/// The side that opened a connection, as an index into [`Connection::keys`] and other per-side arrays.
pub(crate) const INITIATOR: usize = 0;
/// The side it was opened to.
pub(crate) const LISTENER: usize = 1;

/// An MPTCP connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// The sides' keys, as far as seen.
    pub keys: [Option<u64>; 2],
    /// The tokens derived from the keys.
    tokens: [u32; 2],
    /// Final once the listener's key is known.
    pub version: Version,
    /// Whether the listener has accepted.
    pub established: bool,
    /// The stations between which it was opened.
    pub stations: [Handle; 2],
    /// The addresses between which it was opened, as in [`crate::flows::Key`].
    pub addresses: [[u8; 16]; 2],
    /// Its subflows, the first one first.
    pub flows: List,
    /// How many subflows are confirmed.
    pub confirmed: u32,
    /// For each sending side, the index in its path set after the last one used.
    pub next: [u32; 2],
    /// When it was opened.
    pub opened: Time,
}

impl Connection {
    /// The token of a side's key.
    pub fn token(&self, side: usize) -> Option<u32> {
        self.keys[side].map(|_| self.tokens[side])
    }
}

/// All connections.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    pub slab: Slab<Connection>,
    /// Entries (connection, side) with a known token, encoded as twice the connection plus the side.
    by_token: HashTable<u32>,
    hash: Keyed,
}

impl Connections {
    /// An empty table.
    pub fn new(hash_key: u64) -> Self {
        Self { slab: Slab::default(), by_token: HashTable::new(), hash: Keyed::new(hash_key, 4) }
    }

    /// Adds a connection that is being opened.
    pub fn insert(
        &mut self,
        now: Time,
        version: Version,
        stations: [Handle; 2],
        addresses: [[u8; 16]; 2],
    ) -> u32 {
        self.slab.insert(Connection {
            keys: [None; 2],
            tokens: [0; 2],
            version,
            established: false,
            stations,
            addresses,
            flows: List::default(),
            confirmed: 0,
            next: [0; 2],
            opened: now,
        })
    }

    /// Records a side's key under the connection's version; `certain` if that side itself sent it.
    ///
    /// A token is unique at its host (RFC 8684, section 3.1), so a certain key ends any other connection of that
    /// host with the same token. An uncertain key ends none.
    pub fn set_key(&mut self, connection: u32, side: usize, key: u64, certain: bool) {
        let entry = &self.slab[connection];
        let (token, owner) = (Key(key).token(entry.version).0, entry.stations[side]);
        if entry.keys[side] == Some(key) && entry.tokens[side] == token {
            return;
        }
        let hash = self.hash.of(&token);
        let before = self.places(hash).find(|&(_, side, connection)| {
            connection.token(side) == Some(token) && connection.stations[side] == owner
        });
        match before.map(|(number, side, _)| (number, side)) {
            Some(_) if !certain => return,
            Some((other, side)) => self.forget_key(other, side),
            None => {}
        }
        self.forget_key(connection, side);
        let entry = &mut self.slab[connection];
        (entry.keys[side], entry.tokens[side]) = (Some(key), token);
        let (slab, keyed) = (&self.slab, self.hash);
        let place = connection << 1 | side as u32;
        let rehash = |&place: &u32| keyed.of(&slab[place >> 1].tokens[(place & 1) as usize]);
        self.by_token.insert_unique(hash, place, rehash);
    }

    /// Removes a side's key that turned out to be wrong.
    pub fn forget_key(&mut self, connection: u32, side: usize) {
        let Some(token) = self.slab[connection].token(side) else { return };
        self.slab[connection].keys[side] = None;
        let place = connection << 1 | side as u32;
        if let Ok(entry) = self.by_token.find_entry(self.hash.of(&token), |&other| other == place) {
            entry.remove();
        }
    }

    /// The connection and side that a join's token refers to; the join goes from station `from` to `owner`.
    ///
    /// A token is unique only at its host. Of several connections with the token, the one whose ends are the
    /// join's stations is preferred; ties go to the oldest.
    pub fn with_token(&self, token: u32, owner: Handle, from: Handle) -> Option<(u32, usize)> {
        self.places(self.hash.of(&token))
            .filter(|(_, side, connection)| connection.established && connection.token(*side) == Some(token))
            .max_by_key(|(number, side, connection)| {
                let fits = 2 * u8::from(connection.stations[*side] == owner)
                    + u8::from(connection.stations[1 - *side] == from);
                (fits, std::cmp::Reverse((connection.opened, *number, *side)))
            })
            .map(|(number, side, _)| (number, side))
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = (u32, usize, &Connection)> {
        self.by_token.iter_hash(hash).map(|&place| (place >> 1, (place & 1) as usize, &self.slab[place >> 1]))
    }

    /// Forgets a connection.
    pub fn remove(&mut self, connection: u32) {
        self.forget_key(connection, INITIATOR);
        self.forget_key(connection, LISTENER);
        self.slab.remove(connection);
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_token.capacity() * 5
    }
}
