//! The connections of a partition's hosts. [`Hosts`] is the engine's view; [`Shell`] is the same for all protocols, and
//! [`protocol::Protocol`] the part that each of them has in a file of its own. [`Any`] is hosts with any protocol: one
//! type for all of them, so that the engine is compiled once. TCP on one path, for which it is compiled apart, is not
//! among them.
//!
//! The two ends of a connection share nothing. Each end is found by the flow's number, which every packet
//! carries, and lives from its first packet until the engine says that the flow is over.

mod alarms;
mod chosen;
mod context;
mod empty_path;
mod ends;
mod flow_end;
mod granter;
mod granting;
mod host_queue;
#[expect(clippy::module_inception, reason = "the interface of this folder")]
mod hosts;
mod messages;
mod multipath;
mod nics;
mod opening;
mod paced;
mod pacer;
mod pacers;
mod parameters;
mod path_choice;
mod places;
mod preference;
mod progress;
mod protocol;
mod queued;
mod reports;
pub mod roce;
mod shell;
mod stream;
mod subflow;
mod tcp;
mod udp;
pub mod uec;
mod world;

use weft_switching::host::distinct_paths::PathFinder;
use weft_switching::host::selected::{Selected, Selecting};
use weft_traffic::Flow;
use weft_transport::{Protocol, mptcp};
use weft_units::Time;

use crate::journal::{FlowNumber, SideReport};
use crate::network::{HostKind, Network};
use crate::packet::PacketId;
pub use chosen::Chosen;
pub use context::Ctx;
pub use host_queue::HostQueue;
pub use hosts::Hosts;
use multipath::Multipath;
pub use nics::Nics;
pub use places::{Place, Places};
pub use protocol::Format;
use protocol::Protocol as HostProtocol;
use roce::Roce;
pub use shell::Shell;
pub use tcp::Tcp;
use udp::Udp;
use uec::Uec;
pub use world::{World, node_of};

/// Declares [`Any`] with the protocols besides TCP, and the methods that it passes on to the active one. A protocol is a
/// structure of its parameters, named as in [`Protocol`].
macro_rules! any {
    (@methods $any:ident [$($(#[$doc:meta])+ $Name:ident)+] $hosts:ident => $value:expr) => {
        match $any {
            Any::Selecting($hosts) => $value,
            Any::Multipath($hosts) => $value,
            $(Any::$Name($hosts) => $value,)+
        }
    };
    (@protocols [$($(#[$doc:meta])+ $Name:ident)+]) => {
        /// The hosts of a partition.
        pub enum Any<'a> {
            /// With TCP whose hosts choose paths.
            Selecting(Box<Shell<Tcp<'a, Selected>>>),
            /// With Multipath TCP.
            Multipath(Box<Shell<Multipath>>),
            $($(#[$doc])+ $Name(Box<Shell<$Name>>),)+
        }

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
                    $(Protocol::$Name(config) => {
                        Self::$Name(boxed($Name::new(config), queue))
                    })+
                }
            }
        }

        /// How packets of a protocol look in captures, if it is over UDP.
        pub fn format(protocol: &Protocol) -> Format {
            match protocol {
                Protocol::Tcp(_) => Format::PLAIN,
                $(Protocol::$Name(_) => $Name::FORMAT,)+
            }
        }
    };
    (
        $protocols:tt
        $(fn $name:ident($self:ident: $of:ty $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)+
    ) => {
        any!(@protocols $protocols);

        impl Hosts for Any<'_> {
            $(
                #[inline]
                fn $name($self: $of $(, $argument: $type)*) $(-> $result)? {
                    any!(@methods $self $protocols hosts => hosts.$name($($argument),*))
                }
            )+
        }
    };
}

any! {
    [
        /// With datagrams.
        Udp
        /// With queue pairs.
        Roce
        /// With Ultra Ethernet.
        Uec
    ]
    fn kind(self: &Self) -> HostKind;
    fn open(self: &mut Self, flow: FlowNumber, cx: &mut Ctx<'_, '_>);
    fn go_on(self: &mut Self, flow: FlowNumber, cx: &mut Ctx<'_, '_>);
    fn deliver(self: &mut Self, packet: PacketId, cx: &mut Ctx<'_, '_>);
    fn prefetch(self: &Self, owner: u32, world: &World<'_>);
    fn timer(self: &mut Self, place: u32, cx: &mut Ctx<'_, '_>) -> bool;
    fn serve_line(self: &mut Self, line: u32, cx: &mut Ctx<'_, '_>);
    fn grant_credit(self: &mut Self, number: u32, cx: &mut Ctx<'_, '_>);
    fn turn(self: &mut Self, number: u32, cx: &mut Ctx<'_, '_>);
    fn resume(self: &mut Self, nic: u32, cx: &mut Ctx<'_, '_>);
    fn follow(self: &mut Self, flow: FlowNumber, subflow: u8, world: &World<'_>);
    fn leave(self: &mut Self, flow: FlowNumber, side: usize, net: &mut Network<'_>, world: &World<'_>)
        -> Option<(SideReport, Time)>;
    fn delivered(self: &Self, flow: FlowNumber, world: &World<'_>) -> Option<u64>;
    fn repick(self: &mut Self, cx: &mut Ctx<'_, '_>);
    fn memory(self: &Self) -> usize;
}

/// A scheme by which hosts choose paths, and the paths.
pub type Choice<'a> = (&'a Selecting, &'a dyn PathFinder);

/// Hosts with a protocol.
fn boxed<P: HostProtocol>(protocol: P, queue: HostQueue) -> Box<Shell<P>> {
    Box::new(Shell::new(protocol, queue))
}
