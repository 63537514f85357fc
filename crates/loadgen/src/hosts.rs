//! A run's needs of this machine: its hosts' namespaces, congestion control and open files.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::GeneratorError;
use crate::namespace::Namespaces;
use crate::socket;
use crate::workload::Workload;

/// Checks that a host's namespace can be entered and has the congestion control.
pub(crate) fn check_host(
    workload: &Workload,
    host: usize,
    namespaces: &mut Namespaces,
) -> Result<(), GeneratorError> {
    let name = &workload.hosts[host].name;
    let enter = |source| GeneratorError::Enter { host: name.clone(), source };
    namespaces.enter(host as u32).map_err(enter)?;
    let Some(congestion) = &workload.congestion else { return Ok(()) };
    socket::has_congestion(congestion).map_err(|source| GeneratorError::Congestion {
        host: name.clone(),
        name: congestion.clone(),
        available: fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
            .map_or_else(|_| "unknown".to_owned(), |names| names.trim().replace(' ', ", ")),
        source,
    })
}

/// Raises the limit of open files to the maximum: a flow needs two.
pub(crate) fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If it cannot be raised, flows that get no file descriptor report the error.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
