//! Which interfaces can be ports, and how ports are set up: promiscuous, without LRO (merging that cannot be undone),
//! in modes with tags without GRO, and without IPv6 of their own, unless a routing daemon has neighbours there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weft_switching::tag_forward::{check_mtu, mtu_needed};

use super::ethtool;
use super::links::{Interface, Links};
use crate::Mode;
use crate::config::Config;

/// Bytes that a Path frame adds to a segment.
pub const WRAP: u32 = weft_wire::PATH_HEADER_LEN as u32;

/// Why an interface cannot be a port, and the fix; `carries_tags`: it carries tagged frames.
pub fn unfit(
    interface: &Interface,
    all: &[Interface],
    config: &Config,
    carries_tags: bool,
) -> Option<String> {
    let name = &interface.name;
    if !interface.ethernet {
        return Some("is not an Ethernet interface: only Ethernet interfaces can be ports".to_owned());
    }
    if let Some(index) = interface.controller {
        let of = all.iter().find(|other| other.index == index).map_or("another", |other| other.name.as_str());
        return Some(format!(
            "is part of `{of}`, a bridge, bond or similar: remove it from there (ip link set dev {name} nomaster), or \
             use `{of}` as the port"
        ));
    }
    if interface.bridge {
        return Some("is a bridge: remove its interfaces from it and use them as ports instead".to_owned());
    }
    if interface.mtu < config.mtu {
        // SYNs in Path Requests leave only through ports that may be fabric ports.
        let room = if config.mode.keeps_flows() && config.may_be_fabric(name) { WRAP } else { 0 };
        return Some(format!(
            "has an MTU of {}, but hosts may send packets of {} bytes: ip link set dev {name} mtu {}, or set \
             `mtu = {}` if no host sends larger packets",
            interface.mtu,
            config.mtu,
            config.mtu + room,
            interface.mtu
        ));
    }
    if carries_tags && let Err(small) = check_mtu(interface.mtu, config.mtu) {
        return Some(format!(
            "leads to a switch, and {small}: ip link set dev {name} mtu {}, or set `mtu = {}` if no host sends larger \
             packets",
            mtu_needed(config.mtu),
            interface.mtu.saturating_sub(mtu_needed(0))
        ));
    }
    None
}

/// The original settings of an interface, restored when the switch is taken down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Before {
    /// Whether it was promiscuous.
    pub promiscuous: bool,
    /// Whether IPv6 was enabled.
    pub ipv6: bool,
    /// Whether generic receive offload was on.
    #[serde(default)]
    pub gro: bool,
}

/// The original settings of all interfaces, kept in a file across restarts.
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

    /// Saves the settings of an interface, unless an earlier daemon did.
    fn keep(&mut self, name: &str, before: Before) {
        self.interfaces.entry(name.to_owned()).or_insert(before);
        let text = serde_json::to_string(&self.interfaces).unwrap_or_default();
        // A crash in the middle of a write would lose the settings that earlier daemons saved.
        let temporary = self.path.with_extension("partial");
        if let Err(error) = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &self.path)) {
            tracing::warn!(path = %self.path.display(), %error, "cannot save the original settings of interfaces");
        }
    }

    /// Restores all settings and removes the file; returns a line for each thing done.
    pub async fn restore(&mut self, links: &Links) -> Vec<String> {
        let mut done = Vec::new();
        let all = links.all().await.unwrap_or_default();
        for (name, before) in std::mem::take(&mut self.interfaces) {
            let Some(interface) = all.iter().find(|interface| interface.name == name) else { continue };
            if !before.promiscuous {
                match links.set_promiscuous(interface.index, false).await {
                    Ok(()) => done.push(format!("{name} is no longer promiscuous")),
                    Err(error) => tracing::warn!(interface = name, %error, "the interface stays promiscuous"),
                }
            }
            if before.ipv6 && fs::write(ipv6_switch(&name), "0").is_ok() {
                done.push(format!("{name} has IPv6 again"));
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

    /// Sets up an interface as a port of a switch in this mode; `has_peer`: a routing daemon may have a neighbour there.
    pub async fn prepare(&mut self, links: &Links, interface: &Interface, mode: Mode, has_peer: bool) {
        let name = &interface.name;
        // Merged frames cannot be tagged.
        let gro = mode.tags() && ethtool::has_gro(name).unwrap_or(false);
        let ipv6 = fs::read_to_string(ipv6_switch(name)).is_ok_and(|text| text.trim() == "0");
        self.keep(name, Before { promiscuous: interface.promiscuous, ipv6, gro });
        if !interface.promiscuous
            && let Err(error) = links.set_promiscuous(interface.index, true).await
        {
            tracing::warn!(
                interface = name, %error,
                "cannot make the interface promiscuous: it may not receive frames to others"
            );
        }
        if has_peer {
            self.keep_ipv6(name, ipv6);
        } else if ipv6 && let Err(error) = fs::write(ipv6_switch(name), "1") {
            tracing::warn!(
                interface = name, %error,
                "cannot turn off IPv6: this machine may send packets on the interface"
            );
        }
        if gro {
            match ethtool::set_gro(name, false) {
                Ok(()) => tracing::info!(interface = name, "turned off generic receive offload"),
                Err(error) => tracing::warn!(
                    interface = name, %error,
                    "cannot turn off generic receive offload: frames that it merges are lost \
                     (ethtool -K {name} gro off)"
                ),
            }
        }
        match ethtool::turn_off_lro(name) {
            Ok(true) => tracing::info!(interface = name, "turned off large receive offload"),
            Ok(false) => {}
            Err(error) => tracing::warn!(
                interface = name, %error,
                "cannot turn off large receive offload: frames that it merges are lost (ethtool -K {name} lro off)"
            ),
        }
    }

    /// Turns IPv6 on again if a former daemon has turned it off.
    fn keep_ipv6(&self, name: &str, is_on: bool) {
        let was_on = self.interfaces.get(name).is_some_and(|before| before.ipv6);
        let is_on = is_on || (was_on && fs::write(ipv6_switch(name), "0").is_ok());
        if !is_on {
            tracing::warn!(
                interface = name,
                "IPv6 is off: the routing daemon has no neighbour here (sysctl -w net.ipv6.conf.{name}.disable_ipv6=0)"
            );
        }
    }
}

fn ipv6_switch(name: &str) -> PathBuf {
    // The directory has the interface's name, dots included; sysctl(8) keys would swap `.` and `/`.
    Path::new("/proc/sys/net/ipv6/conf").join(name).join("disable_ipv6")
}
