//! [`Any`]: hosts with any protocol. One type for all of them, so that the engine is compiled once. TCP on one path, for which
//! it is compiled apart, is not among them.

use weft_switching::host::distinct_paths::PathFinder;
use weft_switching::host::selected::{Selected, Selecting};
use weft_traffic::Flow;
use weft_transport::{Protocol, mptcp};
use weft_units::Time;

use super::context::Ctx;
use super::host_queue::HostQueue;
use super::hosts::Hosts;
use super::multipath::Multipath;
use super::protocol::Protocol as HostProtocol;
use super::roce::Roce;
use super::shell::Shell;
use super::tcp::Tcp;
use super::udp::Udp;
use super::uec::Uec;
use super::world::World;
use crate::journal::{FlowNumber, SideReport};
use crate::network::{HostKind, Network};
use crate::packet::PacketId;

/// The hosts of a partition.
pub enum Any<'a> {
    /// With TCP whose hosts choose paths.
    Selecting(Box<Shell<Tcp<'a, Selected>>>),
    /// With Multipath TCP.
    Multipath(Box<Shell<Multipath>>),
    /// With datagrams.
    Udp(Box<Shell<Udp>>),
    /// With queue pairs.
    Roce(Box<Shell<Roce>>),
    /// With Ultra Ethernet.
    Uec(Box<Shell<Uec>>),
}

/// Dispatches each of these methods to the active protocol.
macro_rules! forward {
    ($(fn $name:ident($self:ident: $of:ty $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*) => {
        $(
            #[inline]
            fn $name($self: $of $(, $argument: $type)*) $(-> $result)? {
                match $self {
                    Any::Selecting(hosts) => hosts.$name($($argument),*),
                    Any::Multipath(hosts) => hosts.$name($($argument),*),
                    Any::Udp(hosts) => hosts.$name($($argument),*),
                    Any::Roce(hosts) => hosts.$name($($argument),*),
                    Any::Uec(hosts) => hosts.$name($($argument),*),
                }
            }
        )*
    };
}

/// A scheme by which hosts choose paths, and the paths.
pub type Choice<'a> = (&'a Selecting, &'a dyn PathFinder);

impl<'a> Any<'a> {
    /// Hosts with `protocol` and interfaces of this queue that send `flows`. With plain TCP they choose paths, if there is
    /// a scheme for that; with another protocol they choose none.
    ///
    /// # Panics
    /// If hosts use plain TCP and choose no paths.
    pub fn new(
        protocol: &'a Protocol,
        choice: Option<Choice<'a>>,
        queue: HostQueue,
        flows: &mut dyn Iterator<Item = &Flow>,
    ) -> Self {
        match protocol {
            Protocol::Tcp(config) => match (mptcp::Config::new(config), choice) {
                (Some(config), _) => Self::Multipath(boxed(Multipath::new(config, flows), queue)),
                (None, Some((scheme, paths))) => {
                    Self::Selecting(boxed(Tcp::new(config, scheme, paths), queue))
                }
                (None, None) => unreachable!("TCP on one path has an engine of its own"),
            },
            Protocol::Udp(config) => Self::Udp(boxed(Udp { config: config.clone() }, queue)),
            Protocol::Roce(config) => Self::Roce(boxed(Roce { config: (**config).clone() }, queue)),
            Protocol::Uec(config) => Self::Uec(boxed(Uec { config: config.clone() }, queue)),
        }
    }
}

/// Hosts with a protocol.
fn boxed<P: HostProtocol>(protocol: P, queue: HostQueue) -> Box<Shell<P>> {
    Box::new(Shell::new(protocol, queue))
}

impl Hosts for Any<'_> {
    forward! {
        fn kind(self: &Self) -> HostKind;
        fn open(self: &mut Self, flow: FlowNumber, cx: &mut Ctx<'_, '_>);
        fn deliver(self: &mut Self, packet: PacketId, cx: &mut Ctx<'_, '_>);
        fn timer(self: &mut Self, place: u32, cx: &mut Ctx<'_, '_>) -> bool;
        fn serve_line(self: &mut Self, line: u32, cx: &mut Ctx<'_, '_>);
        fn turn(self: &mut Self, number: u32, cx: &mut Ctx<'_, '_>);
        fn prefetch_turn(self: &Self, number: u32, place: u32, is_near: bool);
        fn prefetch_packet(self: &Self, packet: PacketId, net: &Network<'_>, world: &World<'_>);
        fn resume(self: &mut Self, nic: u32, cx: &mut Ctx<'_, '_>);
        fn follow(self: &mut Self, flow: FlowNumber, subflow: u8, world: &World<'_>);
        fn leave(self: &mut Self, flow: FlowNumber, side: usize, net: &mut Network<'_>, world: &World<'_>)
            -> Option<(SideReport, Time)>;
        fn delivered(self: &Self, flow: FlowNumber, world: &World<'_>) -> Option<u64>;
        fn repick(self: &mut Self, cx: &mut Ctx<'_, '_>);
        fn memory(self: &Self) -> usize;
    }
}
