//! Which interfaces can be ports, and what is set of those that are: they take in frames to others, merge
//! none (LRO, which cannot be undone, and where frames get tags GRO, too), and speak no IPv6 of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weft_fabric::nearest;
use weft_switching::tag_forward::{check_mtu, mtu_needed};

use super::ethtool;
use super::links::{Interface, Links};
use super::refusal::Refusal;
use crate::Mode;
use crate::config::Config;

/// Bytes by which a segment grows in a Path frame.
pub const WRAP: u32 = weft_wire::PATH_HEADER_LEN as u32;

/// The interface that is to be the port `name`.
///
/// # Errors
/// [`Refusal`] with what to do.
pub fn find<'a>(name: &str, all: &'a [Interface], before: Option<u32>) -> Result<&'a Interface, Refusal> {
    if let Some(interface) = all.iter().find(|interface| interface.name == name) {
        return Ok(interface);
    }
    let renamed = all.iter().find(|interface| Some(interface.index) == before);
    let near = nearest(name, all.iter().map(|interface| interface.name.as_str()));
    let help = match (renamed, near) {
        (Some(renamed), _) => format!(
            " any more, it is called `{new}` now (ip link set dev {new} name {name}, or change `ports`)",
            new = renamed.name
        ),
        (None, Some(near)) => format!(", did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    Err(Refusal::Missing { name: name.to_owned(), help })
}

/// Why an interface cannot be a port, and what to do; `carries_tags`: frames with tags go over it.
pub fn unfit(
    interface: &Interface,
    all: &[Interface],
    config: &Config,
    carries_tags: bool,
) -> Option<String> {
    let name = &interface.name;
    if !interface.ethernet {
        return Some("has no Ethernet frames: a switch's ports are Ethernet interfaces".to_owned());
    }
    if let Some(index) = interface.controller {
        let of = all.iter().find(|other| other.index == index).map_or("another", |other| other.name.as_str());
        return Some(format!(
            "is part of `{of}`, a bridge, bond or the like: take it out (ip link set dev {name} nomaster), or name \
             `{of}` as the port"
        ));
    }
    if interface.bridge {
        return Some(
            "is a bridge: name the interfaces that are in it instead, and take them out of it".to_owned(),
        );
    }
    if interface.mtu < config.mtu {
        return Some(format!(
            "has an MTU of {}, and hosts may send packets of {} bytes: ip link set dev {name} mtu {}, or say \
             `mtu = {}` if all hosts keep to that",
            interface.mtu,
            config.mtu,
            config.mtu + WRAP,
            interface.mtu
        ));
    }
    if carries_tags && let Err(small) = check_mtu(interface.mtu, config.mtu) {
        return Some(format!(
            "leads to a switch, and {small}: ip link set dev {name} mtu {}, or say `mtu = {}` if all hosts keep to that",
            mtu_needed(config.mtu),
            interface.mtu.saturating_sub(mtu_needed(0))
        ));
    }
    None
}

/// What was set of an interface, to be set back when the switch is taken down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Before {
    /// Whether it took in frames to others.
    pub promiscuous: bool,
    /// Whether it spoke IPv6.
    pub ipv6: bool,
    /// Whether it merged frames of a flow (GRO).
    #[serde(default)]
    pub gro: bool,
}

/// What was set of which interfaces, kept in a file over restarts.
#[derive(Debug)]
pub struct Saved {
    path: PathBuf,
    interfaces: BTreeMap<String, Before>,
}

impl Saved {
    /// Reads the file, if there is one.
    pub fn open(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_default();
        Self { path, interfaces: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// What an interface was before the first daemon set anything.
    fn keep(&mut self, name: &str, before: Before) {
        self.interfaces.entry(name.to_owned()).or_insert(before);
        let text = serde_json::to_string(&self.interfaces).unwrap_or_default();
        if let Err(error) = fs::write(&self.path, text) {
            tracing::warn!(path = %self.path.display(), %error, "what interfaces were before cannot be kept");
        }
    }

    /// Sets all back, and forgets; gives a line for each thing that is as it was.
    pub async fn restore(&mut self, links: &Links) -> Vec<String> {
        let mut done = Vec::new();
        let all = links.all().await.unwrap_or_default();
        for (name, before) in std::mem::take(&mut self.interfaces) {
            let Some(interface) = all.iter().find(|interface| interface.name == name) else { continue };
            if !before.promiscuous {
                match links.set_promiscuous(interface.index, false).await {
                    Ok(()) => done.push(format!("{name} is no longer promiscuous")),
                    Err(error) => tracing::warn!(interface = name, %error, "stays promiscuous"),
                }
            }
            if before.ipv6 && fs::write(ipv6_switch(&name), "0").is_ok() {
                done.push(format!("{name} speaks IPv6 again"));
            }
            if before.gro {
                match ethtool::set_gro(&name, true) {
                    Ok(()) => done.push(format!("{name} has generic receive offload again")),
                    Err(error) => tracing::warn!(
                        interface = name, %error,
                        "generic receive offload stays off (ethtool -K {name} gro on)"
                    ),
                }
            }
        }
        if fs::remove_file(&self.path).is_ok() {
            done.push(format!("removed {}", self.path.display()));
        }
        done
    }

    /// Sets what a port of a switch of this mode needs.
    pub async fn prepare(&mut self, links: &Links, interface: &Interface, mode: Mode) {
        let name = &interface.name;
        // Frames that are merged can have no tag.
        let gro = mode.tags() && ethtool::has_gro(name).unwrap_or(false);
        let ipv6 = fs::read_to_string(ipv6_switch(name)).is_ok_and(|text| text.trim() == "0");
        self.keep(name, Before { promiscuous: interface.promiscuous, ipv6, gro });
        if !interface.promiscuous
            && let Err(error) = links.set_promiscuous(interface.index, true).await
        {
            tracing::warn!(interface = name, %error, "cannot be made promiscuous: frames to others may not come in");
        }
        if ipv6 && let Err(error) = fs::write(ipv6_switch(name), "1") {
            tracing::warn!(interface = name, %error, "IPv6 cannot be turned off: this machine speaks on it");
        }
        if gro {
            match ethtool::set_gro(name, false) {
                Ok(()) => tracing::info!(interface = name, "generic receive offload is turned off"),
                Err(error) => tracing::warn!(
                    interface = name, %error,
                    "generic receive offload cannot be turned off: frames that it merges are lost \
                     (ethtool -K {name} gro off)"
                ),
            }
        }
        match ethtool::turn_off_lro(name) {
            Ok(true) => tracing::info!(interface = name, "large receive offload is turned off"),
            Ok(false) => {}
            Err(error) => tracing::warn!(
                interface = name, %error,
                "large receive offload cannot be turned off: frames that it merges are lost (ethtool -K {name} lro off)"
            ),
        }
    }
}

fn ipv6_switch(name: &str) -> PathBuf {
    // Interfaces are called as their directories are, with `/` for `.` and the other way round.
    Path::new("/proc/sys/net/ipv6/conf").join(name).join("disable_ipv6")
}
