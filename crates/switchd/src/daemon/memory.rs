//! Hello sequence numbers kept for the next daemon: the last one sent, and the last one received from each neighbour,
//! so that replayed Hellos stay refused. A file of fixed-size records, each written in place when it changes: a killed
//! daemon loses none.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Maximum number of neighbours remembered; beyond it, the least recently heard one is evicted.
const MOST: usize = 1024;
/// Bytes of a record: switch id, port, sequence.
const RECORD: usize = 24;

/// The sending port of a neighbour.
pub type Sender = (u64, u16);

/// The file and its contents.
#[derive(Debug)]
pub struct Memory {
    file: File,
    own: u64,
    senders: HashMap<Sender, (usize, u64)>,
}

impl Memory {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let mut bytes = vec![0; RECORD * (MOST + 1)];
        let mut length = 0;
        while let read @ 1.. = file.read_at(&mut bytes[length..], length as u64)? {
            length += read;
        }
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        // Places are taken in their order, so all of them up to the end of the file hold a sender.
        let records = (1..length / RECORD).map(|place| (place, place * RECORD));
        let senders =
            records.map(|(place, at)| ((number(at), number(at + 8) as u16), (place, number(at + 16))));
        Ok(Self { own: number(16), senders: senders.collect(), file })
    }

    fn write(&self, place: usize, (switch, port): Sender, sequence: u64) {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&switch.to_le_bytes());
        record[8..16].copy_from_slice(&u64::from(port).to_le_bytes());
        record[16..].copy_from_slice(&sequence.to_le_bytes());
        // On failure the number is still kept in memory; forwarding must not depend on the disk.
        let _ = self.file.write_all_at(&record, (place * RECORD) as u64);
    }

    /// The next Hello's sequence number, greater than all before: nanoseconds since 1970 unless the clock was set back.
    pub fn next(&mut self, since_1970: u64) -> u64 {
        self.own = since_1970.max(self.own + 1);
        self.write(0, (0, 0), self.own);
        self.own
    }

    /// Whether a number is greater than all received from this sender; if so, it is remembered.
    pub fn is_new(&mut self, sender: Sender, sequence: u64) -> bool {
        let place = match self.senders.get(&sender) {
            Some((_, known)) if *known >= sequence => return false,
            Some((place, _)) => *place,
            None if self.senders.len() < MOST => self.senders.len() + 1,
            None => {
                // Sequence numbers are times: the lowest belongs to the least recently heard sender.
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
        assert!(memory.is_new((0, 1), 5), "0 is a switch id like any other");
        assert!(memory.is_new((7, 1), 5));
        assert!(!memory.is_new((7, 1), 5));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.next(10), 1002);
        for switch in [0, 7] {
            assert!(
                !memory.is_new((switch, 1), 5),
                "a replay from {switch} is still refused after a restart"
            );
        }
        assert!(memory.is_new((7, 2), 5));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        for sender in [(0, 1), (7, 1), (7, 2)] {
            assert!(!memory.is_new(sender, 5), "{sender:?} has kept its place");
        }
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
