//! Why the daemon does not start, with a fix for each error.

use std::path::PathBuf;

use thiserror::Error;
use weft_units::reason;

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
        /// The missing capabilities.
        lacks: String,
    },
    /// An error on a file or directory.
    #[error("{path}: {}", reason(error), path = path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A second daemon of the same name.
    #[error(
        "switch `{name}` is already running (pid {pid}): stop it, or give this one another name (--name, or \
         `name` in the configuration)"
    )]
    Running {
        /// The name of both.
        name: String,
        /// The running process.
        pid: String,
    },
    /// The kernel lacks a feature that the data plane needs.
    #[error(
        "this kernel, Linux {release}, {lacks}: the data plane needs Linux 5.15 or newer with \
         CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS, or Linux 6.6 or newer, which has tcx"
    )]
    Kernel {
        /// Its version.
        release: String,
        /// The missing property.
        lacks: String,
    },
    /// The data plane.
    #[error("{0}")]
    Plane(#[from] PlaneError),
    /// Netlink, sockets, signals.
    #[error("{what}: {}", reason(error))]
    System {
        /// The failed step.
        what: &'static str,
        /// Why it failed.
        error: std::io::Error,
    },
    /// The address of `metrics` is in use, or not one of this machine.
    #[error("listening on the address of `metrics`: {}", reason(.0))]
    Metrics(std::io::Error),
    /// The group of the control socket does not exist.
    #[error(
        "there is no group `{0}` for the control socket: addgroup --system {0}, or remove `control.group`"
    )]
    Group(String),
}

impl Refusal {
    /// The exit code: failed where the kernel refuses a step, refused for errors that the user can correct.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Plane(_) | Self::System { .. } => weft_manual::FAILED,
            _ => weft_manual::REFUSED,
        }
    }

    /// The error of a failed system call.
    pub fn system(what: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::System { what, error }
    }
}
