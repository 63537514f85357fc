//! [`Port`]: an interface of the switch, and its neighbour.
//!
//! The kernel program receives decisions, not deadlines: a port is a fabric port, a host port or neither until the
//! daemon changes that. So roles stay as they are when the daemon stops, and the next one continues from there.

use std::sync::Arc;

use serde::Serialize;
use tokio::task::AbortHandle;
use weft_switching::hello::Way;
use weft_switching::hello_loss::{HelloLoss, HelloNumbers};
use weft_switching::leaving::Leaving;
use weft_switching::loop_guard::LoopGuard;
use weft_wire::{Echo, Mac, SwitchId};

use super::delivery::Delivery;
use super::links::Interface;
use super::socket::PortSocket;
use super::unsent::Unsent;
use crate::Mode;
use crate::layout::{self, NEVER};

/// Bytes that an interface takes beyond its MTU: the Ethernet header and a VLAN tag.
const HEADERS: u32 = 18;

/// The neighbour of a port, as far as known (crates/switching/src/hello.rs).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// No interface, or no carrier.
    Down,
    /// Not known yet: it carries nothing, and becomes a host port unless a Hello arrives in time.
    Listening,
    /// Connected to a host.
    Host,
    /// Connected to another switch.
    Fabric,
    /// Connected to a switch whose Hello messages have stopped but whose frames still arrive: a fabric port used as
    /// the last resort.
    Unheard,
    /// Connected to a switch that has fallen silent: it carries nothing until a frame arrives, except routed frames
    /// without another next hop.
    Silent,
    /// Connected to a switch that does not hear this one: frames sent there are lost. It carries nothing, except that modes
    /// with routes accept frames there and use it without another next hop.
    OneWay,
    /// Connected to a port of this switch, or to a host port of another one outside the fabric: it carries nothing.
    Looped,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 8] = [
        Self::Down,
        Self::Listening,
        Self::Host,
        Self::Fabric,
        Self::Unheard,
        Self::Silent,
        Self::OneWay,
        Self::Looped,
    ];

    /// Its name, which is also the kind of its log message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Listening => "listening",
            Self::Host => "host",
            Self::Fabric => "fabric",
            Self::Unheard => "unheard",
            Self::Silent => "silent",
            Self::OneWay => "one-way",
            Self::Looped => "looped",
        }
    }

    /// [`Role::Host`] or [`Role::Fabric`], if known.
    pub const fn leads_to(self) -> Option<Self> {
        match self {
            Self::Host => Some(Self::Host),
            Self::Fabric | Self::Unheard | Self::Silent | Self::OneWay => Some(Self::Fabric),
            Self::Down | Self::Listening | Self::Looped => None,
        }
    }

    /// Whether it exchanges frames with a switch.
    pub const fn is_fabric(self) -> bool {
        matches!(self, Self::Fabric | Self::Unheard)
    }

    /// Whether Hello messages of a switch arrive, or did within the hold time.
    pub const fn has_neighbour(self) -> bool {
        self.is_fabric() || matches!(self, Self::OneWay)
    }
}

/// The switch whose Hellos were received on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// Its id.
    pub switch: u64,
    /// The port that it sends from.
    pub port: u16,
    /// The address of that port.
    pub mac: Mac,
    /// Its tier; 0 if unknown.
    pub tier: u8,
    /// The hold time in its last Hello, in milliseconds.
    pub hold_ms: u32,
    /// When that Hello arrived.
    pub heard: u64,
    /// The index of the key that signed it; `None` if we have no keys.
    pub key: Option<usize>,
}

/// A port.
#[derive(Debug)]
pub struct Port {
    /// The name of its interface.
    pub name: String,
    /// The interface, while one of that name exists.
    pub interface: Option<Interface>,
    /// Why an existing interface is not used.
    pub unfit: Option<String>,
    /// Whether a Hello may turn it into a fabric port.
    pub may_be_fabric: bool,
    /// The kind of its neighbour, as far as known.
    pub role: Role,
    /// The kind of neighbour when it was last known: a host or a switch.
    pub led_to: Option<Role>,
    /// When the role expires unless a Hello arrives, or [`NEVER`].
    pub until: u64,
    /// From then on it is certain whom each end hears: a hold time after the port came up or the daemon started or was late.
    pub certain_from: u64,
    /// While its role is [`Role::OneWay`], a Hello that does not say whom its sender hears changes nothing until then.
    pub one_way_until: u64,
    /// Whether the neighbour hears this switch, as far as it says so.
    pub is_answered: bool,
    /// The switch whose Hello was last accepted; none once it withdraws or the port goes down.
    pub neighbour: Option<Neighbour>,
    /// The kernel's entry from an earlier daemon, until the first Hello.
    pub adopted: Option<layout::Port>,
    /// Whether it takes no new paths.
    pub draining: bool,
    /// Frames received while no Hellos arrive.
    pub delivery: Delivery,
    /// The numbers of its Hello messages.
    pub numbers: HelloNumbers,
    /// Lost Hello messages of the neighbour.
    pub loss: HelloLoss,
    /// Whether the neighbour misses many of its Hello messages.
    pub is_missed: bool,
    /// When its flows are moved while its link loses frames.
    pub leaving: Leaving,
    /// Its Hello messages that could not be sent.
    pub unsent: Unsent,
    /// Its probes.
    pub guard: LoopGuard,
    /// Whether it carries tagged frames: it is configured as a fabric port, or was one.
    pub carries_tags: bool,
    /// Whether it may lead to a switch that is not heard: one was its last neighbour, or `fabric_ports` names it. Then no host is
    /// known there, whatever its role.
    pub is_left: bool,
    /// Frames that were too long for its link, as far as logged; none before the first look, after which those that an earlier
    /// daemon has counted are known.
    pub too_long: Option<u64>,
    /// Whether received GSO frames, which cannot be tagged, have been logged.
    pub sends_gso: bool,
    /// The socket for Hellos.
    pub socket: Option<Arc<PortSocket>>,
    /// The task that reads the socket.
    pub reader: Option<AbortHandle>,
}

impl std::fmt::Debug for PortSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PortSocket")
    }
}

impl Port {
    /// A port in its initial state.
    pub fn new(name: &str, may_be_fabric: bool) -> Self {
        Self {
            name: name.to_owned(),
            interface: None,
            unfit: None,
            may_be_fabric,
            role: Role::Down,
            led_to: None,
            until: NEVER,
            certain_from: NEVER,
            one_way_until: 0,
            is_answered: false,
            neighbour: None,
            adopted: None,
            draining: false,
            delivery: Delivery::default(),
            numbers: HelloNumbers::default(),
            loss: HelloLoss::default(),
            is_missed: false,
            leaving: Leaving::default(),
            unsent: Unsent::default(),
            guard: LoopGuard::default(),
            carries_tags: false,
            is_left: false,
            too_long: None,
            sends_gso: false,
            socket: None,
            reader: None,
        }
    }

    /// The neighbour to report in Hello messages; `None` while unknown.
    pub fn echo(&self, now: u64) -> Option<Echo> {
        match self.role {
            role if role.has_neighbour() => {
                let known = self.neighbour.as_ref();
                known.map(|known| Echo::of(SwitchId(known.switch), known.port))
            }
            Role::Host | Role::Listening | Role::Silent => (now >= self.certain_from).then_some(Echo::NOBODY),
            _ => None,
        }
    }

    /// Whether it has an interface that the switch does not use yet.
    pub const fn is_untaken(&self) -> bool {
        self.interface.is_some() && self.socket.is_none()
    }

    /// Whether others are preferred.
    pub const fn is_last_resort(&self) -> bool {
        match self.role {
            Role::Unheard | Role::Silent | Role::OneWay => true,
            Role::Fabric => self.loses() || self.unsent.lasts(),
            Role::Down | Role::Listening | Role::Host => self.is_left,
            Role::Looped => false,
        }
    }

    /// Whether its link loses many frames, in either direction.
    pub const fn loses(&self) -> bool {
        matches!(self.role, Role::Fabric) && (self.loss.is_lossy() || self.is_missed)
    }

    /// When its role may expire, or its received frames must be checked.
    pub fn next(&self) -> u64 {
        match self.role {
            Role::Fabric | Role::Unheard | Role::Silent => self.until.min(self.delivery.next),
            _ => self.until,
        }
    }

    /// The direction in which it leads, seen from `tier`.
    pub fn way(&self, tier: u8) -> Way {
        match (self.role, &self.neighbour) {
            (Role::Host, _) => Way::Host,
            (role, Some(Neighbour { tier: theirs @ 1.., .. })) if role.has_neighbour() && tier > 0 => {
                match theirs.cmp(&tier) {
                    std::cmp::Ordering::Greater => Way::Up,
                    std::cmp::Ordering::Less => Way::Down,
                    std::cmp::Ordering::Equal => Way::Level,
                }
            }
            (role, _) if role.has_neighbour() => Way::Level,
            _ => Way::Unknown,
        }
    }

    /// The port's entry for the kernel program. In modes with gates a listening port is a host port: gates decide where the
    /// port leads, so no Hello is waited for. In modes with routes other switches may send frames over a link that works in
    /// their direction only, so they are accepted.
    pub fn entry(&self, tier: u8, mode: Mode) -> layout::Port {
        let before = self.adopted.filter(|_| self.neighbour.is_none() && self.role.is_fabric());
        layout::Port {
            ifindex: self.interface.as_ref().map_or(0, |interface| interface.index),
            longest: self.interface.as_ref().map_or(0, |interface| interface.mtu + HEADERS),
            // A fabric port with `up` = 0 receives no floods but still forwards.
            up: (self.role != Role::Down && !self.draining).into(),
            way: before.map_or(self.way(tier) as u8, |before| before.way),
            may_be_fabric: self.may_be_fabric.into(),
            last_resort: before.map_or(self.is_last_resort().into(), |before| before.last_resort),
            ..layout::Port::decided(
                self.role.is_fabric() || (mode.routes() && self.role == Role::OneWay),
                self.role == Role::Host || (mode.has_gates() && self.role == Role::Listening),
            )
        }
    }

    /// The role in a kernel entry written by an earlier daemon.
    pub const fn role_in(port: &layout::Port) -> Option<Role> {
        match port {
            layout::Port { neighbour_until: 1.., .. } => Some(Role::Fabric),
            layout::Port { up: 0, .. } => None,
            layout::Port { host_from: 0, .. } => Some(Role::Host),
            _ => None,
        }
    }
}
