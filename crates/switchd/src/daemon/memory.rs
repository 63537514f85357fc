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
        let sequence = |place: &usize| number(place * RECORD + 16);
        // Sequence numbers are times: 0 is a hole left by a failed write.
        let mut places: Vec<usize> = (1..length / RECORD).filter(|place| sequence(place) > 0).collect();
        // A file may hold a sender twice: the larger number counts.
        places.sort_by_key(sequence);
        let sender = |at| (number(at), number(at + 8) as u16);
        let senders = places.iter().map(|place| (sender(place * RECORD), (*place, sequence(place))));
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

    /// The first free place; if there is none, that of the least recently heard sender, which is forgotten.
    fn take_place(&mut self) -> Option<usize> {
        let mut is_used = [false; MOST + 1];
        self.senders.values().for_each(|(place, _)| is_used[*place] = true);
        (1..=MOST).find(|place| !is_used[*place]).or_else(|| {
            // Sequence numbers are times: the lowest belongs to the least recently heard sender.
            let oldest = self.senders.iter().min_by_key(|(_, (_, sequence))| *sequence)?;
            let sender = *oldest.0;
            self.senders.remove(&sender).map(|(place, _)| place)
        })
    }

    /// Accepts a number greater than all received from this sender, and remembers it; returns whether it did.
    pub fn accept(&mut self, sender: Sender, sequence: u64) -> bool {
        let known = self.senders.get(&sender).copied();
        if known.is_some_and(|(_, known)| known >= sequence) {
            return false;
        }
        let place = known.map(|(place, _)| place).or_else(|| self.take_place());
        let Some(place) = place else { return false };
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
        assert!(memory.accept((0, 1), 5), "0 is a switch id like any other");
        assert!(memory.accept((7, 1), 5));
        assert!(!memory.accept((7, 1), 5));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.next(10), 1002);
        for switch in [0, 7] {
            assert!(
                !memory.accept((switch, 1), 5),
                "a replay from {switch} is still refused after a restart"
            );
        }
        assert!(memory.accept((7, 2), 5));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        for sender in [(0, 1), (7, 1), (7, 2)] {
            assert!(!memory.accept(sender, 5), "{sender:?} has kept its place");
        }
        assert!(memory.accept((7, 1), 6));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_hole_is_no_sender_and_of_a_sender_that_is_there_twice_the_larger_number_counts() {
        let path = std::env::temp_dir().join(format!("weft-memory-holes-{}", std::process::id()));
        let mut memory = Memory::open(&path).unwrap();
        assert!(memory.accept((0, 0), 9));
        // Places 2, 4 and 6 are holes.
        for (place, sender, sequence) in [(3, (7, 1), 8), (5, (7, 1), 6), (7, (7, 2), 4)] {
            memory.write(place, sender, sequence);
        }
        for senders in [3, 6] {
            memory = Memory::open(&path).unwrap();
            assert_eq!(memory.senders.len(), senders);
            for (sender, sequence) in [((0, 0), 9), ((7, 1), 8), ((7, 2), 4)] {
                assert!(!memory.accept(sender, sequence), "{sender:?}");
            }
            (8..11).for_each(|switch| assert_eq!(memory.accept((switch, 0), 1), senders == 3));
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_full_memory_forgets_the_oldest_and_takes_its_place() {
        let path = std::env::temp_dir().join(format!("weft-memory-full-{}", std::process::id()));
        let mut memory = Memory::open(&path).unwrap();
        assert!((0..MOST as u64 + 10).all(|switch| memory.accept((switch + 1, 0), 100 + switch)));
        drop(memory);
        let mut memory = Memory::open(&path).unwrap();
        assert_eq!(memory.senders.len(), MOST);
        assert!(!memory.accept((MOST as u64 + 10, 0), 100));
        assert!(memory.accept((1, 0), 100));
        std::fs::remove_file(&path).unwrap();
    }
}
