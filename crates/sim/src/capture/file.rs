//! [`CaptureFile`]: a capture that is being written, under a temporary name next to its final one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use weft_fabric::Fabric;
use weft_pcapng::{Interface, Packet, Statistics, Writer};
use weft_units::{Bytes, LinkId, Time};

use super::frames::{Frame, SNAPLEN};
use crate::results::{ResultError, Temporary};

/// The number of an interface, and the frames counted at it.
#[derive(Clone, Copy)]
struct Seen {
    interface: u32,
    frames: u64,
    left_out: u64,
}

/// A capture. Dropped before it is finished, also by a panic, it leaves nothing.
pub struct CaptureFile<'a> {
    fabric: &'a Fabric,
    target: PathBuf,
    temporary: Temporary,
    writer: Writer<BufWriter<File>>,
    limit: Bytes,
    seen: BTreeMap<LinkId, Seen>,
    /// Frames left out on links without an interface.
    unseen: u64,
    /// When the file reached its limit.
    full_at: Option<Time>,
    last: Time,
    failure: Option<io::Error>,
}

/// A finished capture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The file.
    pub path: PathBuf,
    /// Frames in it.
    pub frames: u64,
    /// Frames left out after the file had reached its limit, and when it did.
    pub left_out: Option<(u64, Time)>,
}

/// Whether the file at `path` is the capture that starts with `section`; `None` if there is no file.
///
/// # Errors
/// The file cannot be read.
pub fn is_capture(path: &Path, section: &[u8]) -> Result<Option<bool>, ResultError> {
    let mut start = Vec::new();
    let read = match File::open(path) {
        Ok(file) => file.take(section.len() as u64).read_to_end(&mut start),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    match read {
        Ok(_) => Ok(Some(start == section)),
        Err(source) => Err(ResultError { path: path.to_owned(), source }),
    }
}

impl<'a> CaptureFile<'a> {
    /// Starts the capture `target`, of at most about `limit`, with `section` as its first block.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(
        fabric: &'a Fabric,
        target: &Path,
        section: &[u8],
        limit: Bytes,
    ) -> Result<Self, ResultError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.partial"));
        let failed = |source| ResultError { path: temporary.clone(), source };
        let file = File::create(&temporary).map_err(failed)?;
        let temporary = Temporary(temporary);
        let writer = Writer::new(BufWriter::new(file), section);
        let writer = writer.map_err(|source| ResultError { path: temporary.0.clone(), source })?;
        Ok(Self {
            fabric,
            target: target.to_owned(),
            temporary,
            writer,
            limit,
            seen: BTreeMap::new(),
            unseen: 0,
            full_at: None,
            last: Time::ZERO,
            failure: None,
        })
    }

    /// Adds a frame on `link`, unless the file has reached its limit.
    pub fn add(&mut self, time: Time, link: LinkId, frame: &Frame, comment: &str) {
        self.last = time;
        let outcome = self.write(time, link, frame, comment);
        if let Err(error) = outcome {
            self.failure.get_or_insert(error);
        }
    }

    /// Whether nothing more can be added.
    pub fn is_full(&self) -> bool {
        self.full_at.is_some() || self.failure.is_some()
    }

    /// Counts a frame that is not added.
    pub fn leave_out(&mut self, time: Time, link: LinkId) {
        self.last = time;
        match self.seen.get_mut(&link) {
            Some(seen) => (seen.frames, seen.left_out) = (seen.frames + 1, seen.left_out + 1),
            None => self.unseen += 1,
        }
    }

    fn write(&mut self, time: Time, link: LinkId, frame: &Frame, comment: &str) -> io::Result<()> {
        let interface = match self.seen.get_mut(&link) {
            Some(seen) => {
                seen.frames += 1;
                seen.interface
            }
            None => {
                let interface = self.new_interface(link)?;
                self.seen.insert(link, Seen { interface, frames: 1, left_out: 0 });
                interface
            }
        };
        self.writer.packet(&Packet {
            interface,
            time_ns: time.ps() / 1000,
            bytes: &frame.bytes,
            length: frame.length,
            direction: None,
            comment,
        })?;
        if self.writer.written() >= self.limit.0 {
            self.full_at = Some(time);
        }
        Ok(())
    }

    /// Adds the interface of a link: its name, with the port if there are parallel links.
    fn new_interface(&mut self, id: LinkId) -> io::Result<u32> {
        let link = self.fabric.link(id);
        let mut name = self.fabric.link_label(id);
        if self.fabric.parallel(id).nth(1).is_some() {
            name.push_str(&format!(" port {}", link.from_port.0));
        }
        let description = format!("{}, {} of delay", link.rate, link.delay);
        self.writer.interface(&Interface {
            name: &name,
            description: &description,
            speed: Some(link.rate.bps()),
            snaplen: SNAPLEN,
        })
    }

    /// Completes the file and gives it its final name.
    ///
    /// # Errors
    /// The first error, now or while writing; the partial file is removed.
    pub fn finish(self) -> Result<Captured, ResultError> {
        let Self { target, temporary, mut writer, seen, unseen, full_at, last, failure, .. } = self;
        let comment = full_at.map_or_else(String::new, |at| format!("the file reached its limit at {at}"));
        let time_ns = last.ps() / 1000;
        let written = || {
            failure.map_or(Ok(()), Err)?;
            for Seen { interface, frames, left_out } in seen.values() {
                writer.statistics(&Statistics {
                    interface: *interface,
                    time_ns,
                    received: *frames,
                    dropped: *left_out,
                    comment: &comment,
                })?;
            }
            writer.flush()?;
            fs::rename(&temporary.0, &target)
        };
        if let Err(source) = written() {
            return Err(ResultError { path: target, source });
        }
        let sum = |of: fn(&Seen) -> u64| seen.values().map(of).sum::<u64>();
        let left_out = sum(|seen| seen.left_out);
        Ok(Captured {
            path: target,
            frames: sum(|seen| seen.frames) - left_out,
            left_out: full_at.map(|at| (left_out + unseen, at)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use weft_fabric::{LinkSpec, build};
    use weft_units::{Duration, Rate};

    use super::*;

    #[test]
    fn a_capture_leaves_no_file_unless_it_is_finished() {
        let link = LinkSpec::new(Rate::from_gbps(1), Duration::from_us(1));
        let fabric = build::spine_leaf(1, 2, 1, &link, &link).unwrap();
        let directory = std::env::temp_dir().join(format!("weft-capture-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let target = directory.join("link.pcapng");
        let section = weft_pcapng::section("test", "");
        let create = || CaptureFile::create(&fabric, &target, &section, Bytes(1_000)).unwrap();
        let names = || fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _file = create();
            assert_eq!(names().collect::<Vec<_>>(), [".link.pcapng.partial"]);
            panic!("a run");
        }));
        assert!(panicked.is_err());
        assert_eq!(names().count(), 0);
        create().finish().unwrap();
        assert_eq!(names().collect::<Vec<_>>(), ["link.pcapng"]);
        fs::remove_dir_all(&directory).unwrap();
    }
}
