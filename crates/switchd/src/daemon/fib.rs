//! The kernel's routes, by netlink: its route to an address, and which addresses changes are about.

use std::io;
use std::net::IpAddr;

use futures_util::{StreamExt, pin_mut};
use ipnet::IpNet;
use netlink_packet_core::{NetlinkBuffer, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteNextHopFlags, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::Socket;
use tokio::io::unix::AsyncFd;
use weft_switching::leaf_routes::{Found, NextHop};

use super::links::{Links, subscribe};

/// `RTNLGRP_IPV4_ROUTE`, `RTNLGRP_IPV6_ROUTE`, `RTNLGRP_LINK` and `RTNLGRP_IPV4_IFADDR`, as groups to join: the kernel removes
/// IPv4 routes of an interface that goes down, or loses its address, without a message about them.
const ROUTES: [u32; 4] = [7, 11, 1, 5];
/// `RTNLGRP_NEXTHOP`. Linux before 5.3 has no next-hop objects.
const NEXT_HOPS: u32 = 32;
/// Datagrams read in a row, before the addresses are looked up.
const MOST: usize = 256;

/// The addresses whose routes may have changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Touched {
    /// Those in these prefixes.
    Within(Vec<IpNet>),
    /// Any: events were lost, or concern interfaces or next hops that many routes share.
    Any,
}

impl Touched {
    /// Whether this address is among them.
    pub fn contains(&self, address: &IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Within(prefixes) => prefixes.iter().any(|prefix| prefix.contains(address)),
        }
    }

    fn add(&mut self, more: Self) {
        match (&mut *self, more) {
            (Self::Within(prefixes), Self::Within(more)) => prefixes.extend(more),
            _ => *self = Self::Any,
        }
    }
}

/// The kernel's routes to several addresses.
#[derive(Debug, Default)]
pub struct Routes {
    /// Those that could be read.
    pub found: Vec<(IpAddr, Found)>,
    /// The kernel's error for each of the others.
    pub unread: Vec<(IpAddr, io::Error)>,
}

impl Links {
    /// The route by which the machine sends to an address: the entry of its tables, with all next hops.
    ///
    /// # Errors
    /// The kernel's error.
    async fn route_to(&self, address: IpAddr) -> io::Result<Found> {
        let mut request = RouteMessage::default();
        let (family, length, to) = match address {
            IpAddr::V4(address) => (AddressFamily::Inet, 32, RouteAddress::Inet(address)),
            IpAddr::V6(address) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(address)),
        };
        (request.header.address_family, request.header.destination_prefix_length) = (family, length);
        request.header.flags = RouteFlags::FibMatch;
        request.attributes.push(RouteAttribute::Destination(to));
        let answers = self.0.route().get(request).execute();
        pin_mut!(answers);
        match answers.next().await {
            Some(Ok(route)) => Ok(read(route)),
            Some(Err(rtnetlink::Error::NetlinkError(error))) if is_no_route(-error.raw_code()) => {
                Ok(Found::Nothing)
            }
            Some(Err(error)) => Err(io::Error::other(error)),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
        }
    }

    /// The routes to these addresses.
    pub async fn routes_to(&self, addresses: Vec<IpAddr>) -> Routes {
        let mut routes = Routes::default();
        for address in addresses {
            match self.route_to(address).await {
                Ok(found) => routes.found.push((address, found)),
                Err(error) => routes.unread.push((address, error)),
            }
        }
        routes
    }
}

/// Whether the error says that there is no route, or one that drops: unreachable, blackhole, prohibit.
const fn is_no_route(code: i32) -> bool {
    matches!(code, libc::ENETUNREACH | libc::EHOSTUNREACH | libc::ESRCH | libc::EINVAL | libc::EACCES)
}

/// A default route leads everywhere, also to leaves that are down: it does not count.
fn read(route: RouteMessage) -> Found {
    match route.header.kind {
        RouteType::Local => return Found::Own,
        RouteType::Unicast if route.header.destination_prefix_length > 0 => {}
        _ => return Found::Nothing,
    }
    let unusable = RouteNextHopFlags::Dead | RouteNextHopFlags::Linkdown;
    let is_usable = !route.header.flags.intersects(RouteFlags::Dead | RouteFlags::Linkdown);
    let mut hops = Vec::new();
    for attribute in route.attributes {
        match attribute {
            RouteAttribute::Oif(interface) if is_usable => hops.push(NextHop { interface, weight: 1 }),
            RouteAttribute::MultiPath(all) => {
                let used = all.iter().filter(|hop| !hop.flags.intersects(unusable));
                // The kernel stores the weight less one.
                hops.extend(
                    used.map(|hop| NextHop {
                        interface: hop.interface_index,
                        weight: u32::from(hop.hops) + 1,
                    }),
                );
            }
            _ => {}
        }
    }
    if hops.is_empty() { Found::Nothing } else { Found::Over(hops) }
}

/// Changes of routes as they happen.
pub struct RouteChanges {
    socket: AsyncFd<Socket>,
    buffer: Vec<u8>,
}

impl RouteChanges {
    /// Subscribes to changes; must be called on a runtime.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> io::Result<Self> {
        let mut socket = subscribe(&ROUTES)?;
        if let Err(error) = socket.get_mut().add_membership(NEXT_HOPS) {
            tracing::debug!(%error, "this kernel has no next-hop objects");
        }
        Ok(Self { socket, buffer: vec![0; 1 << 16] })
    }

    /// The addresses whose routes have changed since the last call; waits until there are some.
    ///
    /// # Errors
    /// The kernel's error; lost events are [`Touched::Any`] instead.
    pub async fn next(&mut self) -> io::Result<Touched> {
        let mut all = Touched::Within(Vec::new());
        let mut datagrams = 0;
        loop {
            let mut ready = self.socket.readable().await?;
            while datagrams < MOST {
                let buffer = &mut self.buffer;
                match ready.try_io(|socket| socket.get_ref().recv(&mut &mut buffer[..], 0)) {
                    Ok(Ok(length)) => all.add(touched(&self.buffer[..length])),
                    // The kernel reports this once and continues.
                    Ok(Err(error)) if error.raw_os_error() == Some(libc::ENOBUFS) => all.add(Touched::Any),
                    Ok(Err(error)) => return Err(error),
                    Err(_) => break,
                }
                datagrams += 1;
            }
            if datagrams > 0 {
                return Ok(all);
            }
        }
    }
}

/// The addresses that a netlink datagram is about.
fn touched(mut bytes: &[u8]) -> Touched {
    let mut all = Touched::Within(Vec::new());
    while let Ok(header) = NetlinkBuffer::new_checked(bytes) {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes);
        all.add(match message.map(|message| message.payload) {
            Ok(NetlinkPayload::InnerMessage(
                RouteNetlinkMessage::NewRoute(route) | RouteNetlinkMessage::DelRoute(route),
            )) => prefix(&route).map_or(Touched::Any, |prefix| Touched::Within(vec![prefix])),
            // An interface, an address, a next-hop object, or a message that cannot be parsed.
            _ => Touched::Any,
        });
        let length = (header.length() as usize).next_multiple_of(4);
        if length == 0 || length >= bytes.len() {
            break;
        }
        bytes = &bytes[length..];
    }
    all
}

/// The destination of a route.
fn prefix(route: &RouteMessage) -> Option<IpNet> {
    let given = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(address)) => Some(IpAddr::from(*address)),
        RouteAttribute::Destination(RouteAddress::Inet6(address)) => Some(IpAddr::from(*address)),
        _ => None,
    });
    let address = given.or(match route.header.address_family {
        AddressFamily::Inet => Some(IpAddr::from([0; 4])),
        AddressFamily::Inet6 => Some(IpAddr::from([0; 16])),
        _ => None,
    })?;
    IpNet::new(address, route.header.destination_prefix_length).ok()
}

#[cfg(test)]
mod tests {
    use netlink_packet_route::route::RouteNextHop;
    use rand_core::{RngCore, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn route(to: [u8; 4], length: u8, attributes: &[RouteAttribute]) -> RouteMessage {
        let mut route = RouteMessage::default();
        (route.header.address_family, route.header.destination_prefix_length) = (AddressFamily::Inet, length);
        route.header.kind = RouteType::Unicast;
        if length > 0 {
            route.attributes.push(RouteAttribute::Destination(RouteAddress::Inet(to.into())));
        }
        route.attributes.extend_from_slice(attributes);
        route
    }

    fn hop(interface_index: u32, hops: u8, flags: RouteNextHopFlags) -> RouteNextHop {
        let mut hop = RouteNextHop::default();
        (hop.interface_index, hop.hops, hop.flags) = (interface_index, hops, flags);
        hop
    }

    fn datagram(route: RouteMessage) -> Vec<u8> {
        let mut message = NetlinkMessage::from(RouteNetlinkMessage::NewRoute(route));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    #[test]
    fn next_hops_that_carry_frames_count_with_their_weights() {
        let none = RouteNextHopFlags::empty();
        let all = vec![hop(2, 0, none), hop(3, 2, none), hop(4, 0, RouteNextHopFlags::Linkdown)];
        let found = read(route([10, 0, 0, 3], 32, &[RouteAttribute::MultiPath(all)]));
        assert_eq!(
            found,
            Found::Over(vec![NextHop { interface: 2, weight: 1 }, NextHop { interface: 3, weight: 3 }])
        );
        let one = [RouteAttribute::Oif(7)];
        assert_eq!(
            read(route([10, 0, 0, 0], 24, &one)),
            Found::Over(vec![NextHop { interface: 7, weight: 1 }])
        );
        assert_eq!(read(route([0; 4], 0, &one)), Found::Nothing, "a default route");
        let mut other = route([10, 0, 0, 3], 32, &one);
        other.header.flags = RouteFlags::Dead;
        assert_eq!(read(other.clone()), Found::Nothing);
        for (kind, expected) in [(RouteType::Local, Found::Own), (RouteType::BlackHole, Found::Nothing)] {
            other.header.kind = kind;
            assert_eq!(read(other.clone()), expected);
        }
    }

    #[test]
    fn a_change_touches_the_addresses_in_its_prefix_and_an_unknown_message_all() {
        let contains = |touched: &Touched, last| touched.contains(&IpAddr::from([10, 0, 0, last]));
        let mut bytes = datagram(route([10, 0, 0, 3], 32, &[RouteAttribute::Oif(7)]));
        assert!(contains(&touched(&bytes), 3) && !contains(&touched(&bytes), 4));
        let wide = datagram(route([10, 0, 0, 0], 24, &[]));
        assert!(contains(&touched(&wide), 4) && !touched(&wide).contains(&IpAddr::from([0; 16])));
        assert!(contains(&touched(&datagram(route([0; 4], 0, &[]))), 9));
        bytes.extend(wide);
        assert!(contains(&touched(&bytes), 4), "both");
        // RTM_NEWNEXTHOP
        bytes[4] = 104;
        assert_eq!(touched(&bytes), Touched::Any);
    }

    #[test]
    fn damaged_messages_are_read_or_touch_everything() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let all = vec![hop(2, 0, RouteNextHopFlags::empty()), hop(3, 2, RouteNextHopFlags::empty())];
        let whole = datagram(route([10, 0, 0, 3], 32, &[RouteAttribute::MultiPath(all)]));
        for _ in 0..100_000 {
            let mut bytes = whole.clone();
            for _ in 0..=random.next_u32() % 4 {
                let at = random.next_u32() as usize % bytes.len();
                bytes[at] = random.next_u32() as u8;
            }
            bytes.truncate(random.next_u32() as usize % (bytes.len() + 1));
            let _ = touched(&bytes);
        }
    }
}
