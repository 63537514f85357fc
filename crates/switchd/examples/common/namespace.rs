//! Network namespaces that a load runs in.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// From here on this thread is in the namespace (`/run/netns/h1`).
pub fn enter(namespace: &Path) -> io::Result<()> {
    let namespace = File::open(namespace)?;
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}
