//! The interfaces of this network namespace, by netlink: the list at start, and every change as it happens.

use std::io;

use futures_util::TryStreamExt;
use netlink_packet_core::{NetlinkBuffer, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkFlags, LinkInfo, LinkLayerType, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use rtnetlink::{Handle, LinkUnspec};
use tokio::io::unix::AsyncFd;
use weft_wire::Mac;

/// `RTNLGRP_LINK`, as a group to join.
const LINKS: u32 = 1;

/// An interface as described by the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Its index, unique during its lifetime.
    pub index: u32,
    /// Its name, which may change.
    pub name: String,
    /// Its address.
    pub mac: Mac,
    /// Longest packet, in bytes without the Ethernet header.
    pub mtu: u32,
    /// Whether frames can pass: it is up and has a carrier.
    pub up: bool,
    /// Whether it is promiscuous.
    pub promiscuous: bool,
    /// Whether it is an Ethernet interface.
    pub ethernet: bool,
    /// Whether it is a bridge.
    pub bridge: bool,
    /// The bridge, bond or similar that it is part of.
    pub controller: Option<u32>,
    /// Whether the kernel reports carrier changes at once: it is an end of a virtual link, or stacked on another
    /// interface.
    pub notifies_at_once: bool,
}

/// A change of an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Its current state.
    Is(Interface),
    /// The interface with this index is gone.
    Gone(u32),
    /// Events were lost: list all interfaces again.
    Missed,
}

fn read(message: LinkMessage) -> Interface {
    let flags = message.header.flags;
    let mut interface = Interface {
        index: message.header.index,
        name: String::new(),
        mac: Mac::default(),
        mtu: 0,
        up: flags.contains(LinkFlags::Up | LinkFlags::LowerUp),
        promiscuous: flags.contains(LinkFlags::Promisc),
        ethernet: message.header.link_layer_type == LinkLayerType::Ether,
        bridge: false,
        controller: None,
        notifies_at_once: false,
    };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => interface.name = name,
            LinkAttribute::Mtu(mtu) => interface.mtu = mtu,
            LinkAttribute::Address(address) => {
                interface.mac = address.try_into().map(Mac).unwrap_or_default()
            }
            LinkAttribute::LinkInfo(infos) => {
                let kind = |info: &LinkInfo| matches!(info, LinkInfo::Kind(InfoKind::Bridge));
                interface.bridge = infos.iter().any(kind);
            }
            // Equal indices of two namespaces mean nothing.
            LinkAttribute::Link(index) => interface.notifies_at_once = index > 0 && index != interface.index,
            LinkAttribute::Controller(index) if index > 0 => interface.controller = Some(index),
            _ => {}
        }
    }
    interface
}

/// Netlink requests about interfaces.
#[derive(Clone)]
pub struct Links(pub(super) Handle);

impl Links {
    /// Opens a netlink connection; must be called on a runtime.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> io::Result<Self> {
        let (connection, handle, _) = rtnetlink::new_connection()?;
        tokio::spawn(connection);
        Ok(Self(handle))
    }

    /// All interfaces.
    ///
    /// # Errors
    /// The kernel's error.
    pub async fn all(&self) -> io::Result<Vec<Interface>> {
        let links = self.0.link().get().execute().map_ok(read);
        links.try_collect().await.map_err(io::Error::other)
    }

    /// Turns promiscuous mode on or off.
    ///
    /// # Errors
    /// The kernel's error.
    pub async fn set_promiscuous(&self, index: u32, on: bool) -> io::Result<()> {
        let message = LinkUnspec::new_with_index(index).promiscuous(on).build();
        self.0.link().set(message).execute().await.map_err(io::Error::other)
    }
}

/// A netlink socket that receives the events of these groups; must be called on a runtime.
///
/// # Errors
/// The kernel's error.
pub(super) fn subscribe(groups: &[u32]) -> io::Result<AsyncFd<Socket>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind(&SocketAddr::new(0, 0))?;
    groups.iter().try_for_each(|group| socket.add_membership(*group))?;
    socket.set_non_blocking(true)?;
    // SAFETY: a socket keeps its descriptor for its lifetime.
    Ok(unsafe { AsyncFd::register(socket) }?)
}

/// Interface changes as they happen.
pub struct Changes {
    socket: AsyncFd<Socket>,
    buffer: Vec<u8>,
}

impl Changes {
    /// Subscribes to link changes; must be called on a runtime.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> io::Result<Self> {
        Ok(Self { socket: subscribe(&[LINKS])?, buffer: vec![0; 1 << 16] })
    }

    /// The next events.
    ///
    /// # Errors
    /// The kernel's error; lost events are [`Event::Missed`] instead.
    pub async fn next(&mut self) -> io::Result<Vec<Event>> {
        loop {
            let mut ready = self.socket.readable().await?;
            let buffer = &mut self.buffer;
            let received = ready.try_io(|socket| socket.get_ref().recv(&mut &mut buffer[..], 0));
            match received {
                Ok(Ok(length)) => return Ok(events(&self.buffer[..length])),
                // The kernel reports this once and continues.
                Ok(Err(error)) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                    return Ok(vec![Event::Missed]);
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
    }
}

/// The events in a netlink datagram.
fn events(mut bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while let Ok(header) = NetlinkBuffer::new_checked(bytes) {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes);
        match message.map(|message| message.payload) {
            // This message cannot be parsed; listing all interfaces may work.
            Err(_) => events.push(Event::Missed),
            Ok(NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link))) => {
                events.push(Event::Is(read(link)));
            }
            // Leaving a bridge is reported as RTM_DELLINK with family AF_BRIDGE.
            Ok(NetlinkPayload::InnerMessage(RouteNetlinkMessage::DelLink(link)))
                if link.header.interface_family == AddressFamily::Unspec =>
            {
                events.push(Event::Gone(link.header.index));
            }
            Ok(_) => {}
        }
        let length = (header.length() as usize).next_multiple_of(4);
        if length == 0 || length >= bytes.len() {
            break;
        }
        bytes = &bytes[length..];
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A netlink message: length, type, flags, sequence number, sender and payload.
    fn message(kind: u16, says: &[u8]) -> Vec<u8> {
        let mut bytes = (16 + says.len() as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(says);
        bytes
    }

    #[test]
    fn a_message_that_cannot_be_read_does_not_hide_those_after_it() {
        // RTM_DELLINK is 17: family, padding, type, index, flags and change of interface 7.
        let gone = message(17, &[0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let spoilt = message(16, &[0; 4]);
        let all = [spoilt.clone(), gone.clone()].concat();
        assert_eq!(events(&all), [Event::Missed, Event::Gone(7)]);
        assert_eq!(events(&gone), [Event::Gone(7)]);
        assert_eq!(events(&[]), []);
        let mut endless = spoilt;
        endless[..4].fill(0);
        assert_eq!(events(&endless), []);
    }
}
