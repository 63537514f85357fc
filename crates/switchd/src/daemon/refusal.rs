//! Why the daemon does not start, in words that say what to do.

use std::path::PathBuf;

use thiserror::Error;

use crate::config::ConfigError;
use crate::error::PlaneError;

/// Why the daemon does not start, or stopped.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A capability is missing.
    #[error(
        "{lacks} missing: run it as root, or give it CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW and CAP_PERFMON \
         (in a systemd unit: AmbientCapabilities=)"
    )]
    Capabilities {
        /// The capabilities that are not there.
        lacks: String,
    },
    /// A directory or file that the daemon needs.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A second daemon of one name.
    #[error(
        "a switch `{name}` is running already (pid {pid}): stop it, or give this one another name (--name, or \
         `name` in the configuration)"
    )]
    Running {
        /// The name of both.
        name: String,
        /// The process that has it.
        pid: String,
    },
    /// An interface that is not there.
    #[error("there is no interface `{name}`{help}: `ip link` lists those that there are")]
    Missing {
        /// As it is configured.
        name: String,
        /// What may be meant.
        help: String,
    },
    /// An interface that is no port.
    #[error("the interface `{name}` {why}")]
    Unfit {
        /// The interface.
        name: String,
        /// Why, and what to do.
        why: String,
    },
    /// The kernel lacks what the data plane needs.
    #[error(
        "this kernel, Linux {release}, {lacks}: the data plane needs Linux 5.15 or newer with \
         CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS, or Linux 6.6, which attaches programs by tcx"
    )]
    Kernel {
        /// Its version.
        release: String,
        /// What it cannot do.
        lacks: String,
    },
    /// The data plane.
    #[error("{0}")]
    Plane(#[from] PlaneError),
    /// Netlink, sockets, signals.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        error: std::io::Error,
    },
    /// A group that the control socket is to belong to.
    #[error(
        "there is no group `{0}` for the control socket: addgroup --system {0}, or leave out `control.group`"
    )]
    Group(String),
}

impl Refusal {
    /// Of a step that the system refused.
    pub fn system(what: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::System { what, error }
    }
}
