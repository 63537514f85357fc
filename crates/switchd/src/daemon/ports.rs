//! [`Port`]: an interface of the switch, and what it leads to.
//!
//! The program in the kernel is told decisions, not deadlines: a port is a fabric port, a host port or
//! neither until it is told otherwise. So a daemon that is gone leaves the roles of its ports as they
//! were, and the next one goes on from there.

use std::sync::Arc;

use serde::Serialize;
use tokio::task::AbortHandle;
use weft_switching::hello::Way;

use super::delivery::Delivery;
use super::links::Interface;
use super::socket::PortSocket;
use crate::layout::{self, NEVER};

/// What a port leads to, as far as is known (crates/switching/src/hello.rs).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// There is no interface, or it has no carrier.
    Down,
    /// A switch may be there that has not been heard yet: it carries nothing, and is a host port unless a Hello
    /// comes in time.
    Listening,
    /// To a host.
    Host,
    /// To another switch.
    Fabric,
    /// To a switch whose Hello messages have stopped and whose frames still come in: a fabric port that is
    /// used as the last resort.
    Unheard,
    /// To a switch that has fallen silent: it carries nothing until something comes in, but for frames that
    /// routes send and no other next hop is left for.
    Silent,
    /// To a port of this switch: it carries nothing.
    Looped,
}

impl Role {
    /// Its name, which is also that of its kind of message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Listening => "listening",
            Self::Host => "host",
            Self::Fabric => "fabric",
            Self::Unheard => "unheard",
            Self::Silent => "silent",
            Self::Looped => "looped",
        }
    }

    /// [`Role::Host`] or [`Role::Fabric`] where it is known what is there.
    pub const fn leads_to(self) -> Option<Self> {
        match self {
            Self::Host => Some(Self::Host),
            Self::Fabric | Self::Unheard | Self::Silent => Some(Self::Fabric),
            Self::Down | Self::Listening | Self::Looped => None,
        }
    }

    /// Whether frames go to and come from a switch there.
    pub const fn is_fabric(self) -> bool {
        matches!(self, Self::Fabric | Self::Unheard)
    }
}

/// The switch that was heard on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// Its id.
    pub switch: u64,
    /// The port that it sends from.
    pub port: u16,
    /// Its tier; 0 is not known.
    pub tier: u8,
    /// For how long its last Hello holds, in milliseconds.
    pub hold_ms: u32,
    /// When that came in.
    pub heard: u64,
    /// Which of our keys that was signed with, from 0; none where we have none.
    pub key: Option<usize>,
}

/// A port.
#[derive(Debug)]
pub struct Port {
    /// The name of its interface.
    pub name: String,
    /// The interface, while there is one of that name.
    pub interface: Option<Interface>,
    /// Why the interface is not used though it is there.
    pub unfit: Option<String>,
    /// Whether a Hello makes it a fabric port.
    pub may_be_fabric: bool,
    /// What it leads to.
    pub role: Role,
    /// What it led to when that was last known: a host or a switch.
    pub led_to: Option<Role>,
    /// When the role ends unless something is heard; [`NEVER`].
    pub until: u64,
    /// Who was heard last.
    pub neighbour: Option<Neighbour>,
    /// What the program was told by the daemon before, until a Hello says more.
    pub adopted: Option<layout::Port>,
    /// Whether it takes no new paths.
    pub draining: bool,
    /// What comes in while the neighbour is not heard.
    pub delivery: Delivery,
    /// Whether frames with tags go over it: a switch is behind it, or was heard there.
    pub carries_tags: bool,
    /// Whether it was said that frames come in that are too large for a tag.
    pub sends_gso: bool,
    /// Hellos in and out.
    pub socket: Option<Arc<PortSocket>>,
    /// What reads the socket.
    pub reader: Option<AbortHandle>,
}

impl std::fmt::Debug for PortSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PortSocket")
    }
}

impl Port {
    /// A port of which nothing is known.
    pub fn new(name: &str, may_be_fabric: bool) -> Self {
        Self {
            name: name.to_owned(),
            interface: None,
            unfit: None,
            may_be_fabric,
            role: Role::Down,
            led_to: None,
            until: NEVER,
            neighbour: None,
            adopted: None,
            draining: false,
            delivery: Delivery::default(),
            carries_tags: false,
            sends_gso: false,
            socket: None,
            reader: None,
        }
    }

    /// When its role may change, or what comes in has to be looked at.
    pub fn next(&self) -> u64 {
        match self.role {
            Role::Fabric | Role::Unheard | Role::Silent => self.until.min(self.delivery.next()),
            _ => self.until,
        }
    }

    /// To which tier it leads, seen from `tier`.
    pub fn way(&self, tier: u8) -> Way {
        match (self.role, &self.neighbour) {
            (Role::Host, _) => Way::Host,
            (Role::Fabric | Role::Unheard, Some(Neighbour { tier: theirs @ 1.., .. })) if tier > 0 => {
                match theirs.cmp(&tier) {
                    std::cmp::Ordering::Greater => Way::Up,
                    std::cmp::Ordering::Less => Way::Down,
                    std::cmp::Ordering::Equal => Way::Level,
                }
            }
            (Role::Fabric | Role::Unheard, _) => Way::Level,
            _ => Way::Unknown,
        }
    }

    /// What the program is told. Where there are gates (`has_gates`) they say what the port leads to: nobody waits
    /// for a Hello that may come.
    pub fn told(&self, tier: u8, has_gates: bool) -> layout::Port {
        let way = match (&self.neighbour, self.role, self.adopted) {
            (None, Role::Fabric | Role::Unheard, Some(before)) => before.way,
            _ => self.way(tier) as u8,
        };
        layout::Port {
            ifindex: self.interface.as_ref().map_or(0, |interface| interface.index),
            // A fabric port that is not up is not flooded to, and still forwards.
            up: (self.role != Role::Down && !self.draining).into(),
            way,
            may_be_fabric: self.may_be_fabric.into(),
            last_resort: matches!(self.role, Role::Unheard | Role::Silent).into(),
            ..layout::Port::decided(
                self.role.is_fabric(),
                self.role == Role::Host || (has_gates && self.role == Role::Listening),
            )
        }
    }

    /// The role that the program was told by a daemon before this one.
    pub const fn told_before(port: &layout::Port) -> Option<Role> {
        match port {
            layout::Port { neighbour_until: 1.., .. } => Some(Role::Fabric),
            layout::Port { up: 0, .. } => None,
            layout::Port { host_from: 0, .. } => Some(Role::Host),
            _ => None,
        }
    }
}
