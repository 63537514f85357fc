//! [`Namespaces`]: the network namespaces of the hosts, and the one that the thread is in.
//!
//! A socket stays in the namespace that its thread was in when it was created. So one thread creates
//! the sockets of all hosts, and one epoll instance waits for all of them.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::AsFd as _;

use crate::workload::Host;

/// The namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// Moves the calling thread to a network namespace, permanently.
///
/// # Errors
/// The file is not a network namespace, or the process lacks CAP_SYS_ADMIN.
pub fn enter(path: &Path) -> io::Result<()> {
    Ok(move_into_link_name_space(File::open(path)?.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// The namespaces of a workload's hosts.
pub struct Namespaces {
    files: Vec<File>,
    /// For each host, its index in `files`.
    of_host: Vec<usize>,
    current: usize,
}

impl Namespaces {
    /// Opens the namespaces of the local hosts.
    ///
    /// # Errors
    /// The file that cannot be opened, and why.
    pub fn open(hosts: &[Host], here: &[bool]) -> Result<Self, (PathBuf, io::Error)> {
        let file = |path: &Path| File::open(path).map_err(|error| (path.to_owned(), error));
        let mut files = vec![file(Path::new(OWN))?];
        let mut of_host = Vec::with_capacity(hosts.len());
        for (host, here) in hosts.iter().zip(here) {
            of_host.push(match host.netns.as_ref().filter(|_| *here) {
                Some(path) => {
                    files.push(file(path)?);
                    files.len() - 1
                }
                None => 0,
            });
        }
        Ok(Self { files, of_host, current: 0 })
    }

    /// Moves the calling thread to the namespace of a host.
    ///
    /// # Errors
    /// The file is not a network namespace, or the process lacks CAP_SYS_ADMIN.
    pub fn enter(&mut self, host: u32) -> io::Result<()> {
        self.enter_file(self.of_host[host as usize])
    }

    fn enter_file(&mut self, at: usize) -> io::Result<()> {
        if at != self.current {
            move_into_link_name_space(self.files[at].as_fd(), Some(LinkNameSpaceType::Network))?;
            self.current = at;
        }
        Ok(())
    }
}

impl Drop for Namespaces {
    /// Returns to the thread's original namespace.
    fn drop(&mut self) {
        let _ = self.enter_file(0);
    }
}
