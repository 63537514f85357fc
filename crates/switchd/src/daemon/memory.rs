//! What a daemon leaves to the next one beside maps: the number of its last Hello, and those of its
//! neighbours', so that an old one that is sent again stays old. A file of fixed records, each written in
//! place as it changes: a daemon that is killed loses none.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Neighbours remembered; beyond them the one that was heard longest ago is forgotten.
const MOST: usize = 1024;
/// Bytes of a record: switch id, port, sequence.
const RECORD: usize = 24;

/// The sending port of a neighbour.
pub type Sender = (u64, u16);

/// The file, and what is in it.
#[derive(Debug)]
pub struct Memory {
    file: File,
    own: u64,
    senders: HashMap<Sender, (usize, u64)>,
}

impl Memory {
    /// Opens or makes the file.
    ///
    /// # Errors
    /// What the file system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let mut bytes = vec![0; RECORD * (MOST + 1)];
        let mut length = 0;
        while let read @ 1.. = file.read_at(&mut bytes[length..], length as u64)? {
            length += read;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let records = (1..=MOST).map(|place| (place, place * RECORD)).filter(|(_, at)| number(*at) != 0);
        let senders =
            records.map(|(place, at)| ((number(at), number(at + 8) as u16), (place, number(at + 16))));
        Ok(Self { own: number(16), senders: senders.collect(), file })
    }

    fn write(&self, place: usize, (switch, port): Sender, sequence: u64) {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&switch.to_le_bytes());
        record[8..16].copy_from_slice(&u64::from(port).to_le_bytes());
        record[16..].copy_from_slice(&sequence.to_le_bytes());
        // What cannot be kept is kept in memory still; the disk is no part of forwarding.
        let _ = self.file.write_all_at(&record, (place * RECORD) as u64);
    }

    /// A number for the next Hello, greater than all before: nanoseconds since 1970 where the clock allows.
    pub fn next(&mut self, since_1970: u64) -> u64 {
        self.own = since_1970.max(self.own + 1);
        self.write(0, (0, 0), self.own);
        self.own
    }

    /// Whether a number is greater than all that this sender's Hellos had; it is then remembered.
    pub fn is_new(&mut self, sender: Sender, sequence: u64) -> bool {
        let place = match self.senders.get(&sender) {
            Some((_, known)) if *known >= sequence => return false,
            Some((place, _)) => *place,
            None if self.senders.len() < MOST => self.senders.len() + 1,
            None => {
                // Sequences are mostly times: the least is of the sender not heard for longest.
                let oldest = self.senders.iter().min_by_key(|(_, (_, sequence))| *sequence);
                let Some((oldest, place)) = oldest.map(|(sender, (place, _))| (*sender, *place)) else {
                    return false;
                };
                self.senders.remove(&oldest);
                place
            }
        };
        self.senders.insert(sender, (place, sequence));
        self.write(place, sender, sequence);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_over_restarts_and_over_clocks_set_back() {
        let path = std::env::temp_dir().join(format!("weft-memory-{}", std::process::id()));
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.next(1000), 1000);
        assert_eq!(memory.next(500), 1001);
        assert!(memory.is_new((7, 1), 5));
        assert!(!memory.is_new((7, 1), 5));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.next(10), 1002);
        assert!(!memory.is_new((7, 1), 5), "a replay stays one after a restart");
        assert!(memory.is_new((7, 2), 5));
        assert!(memory.is_new((7, 1), 6));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_full_memory_forgets_the_oldest_and_takes_its_place() {
        let path = std::env::temp_dir().join(format!("weft-memory-full-{}", std::process::id()));
        let mut memory = Memory::open(&path).unwrap();
        assert!((0..MOST as u64 + 10).all(|switch| memory.is_new((switch + 1, 0), 100 + switch)));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.senders.len(), MOST);
        assert!(!memory.is_new((MOST as u64 + 10, 0), 100));
        assert!(memory.is_new((1, 0), 100));
        std::fs::remove_file(&path).unwrap();
    }
}
