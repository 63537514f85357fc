//! [`Udp`]: hosts that send datagrams.

use weft_switching::{Header, stream};
use weft_transport::udp::{Config, Datagram, Sink, Source};
use weft_transport::{Machine, OneWay, Packet, ProtocolConfig as _};
use weft_units::Time;

use super::context::Ctx;
use super::protocol::{End, Opening, PacketOf, Protocol};
use super::shell::Transmission;
use super::subflow::Subflow;
use crate::network::Network;
use crate::packet::{Content, PacketId};

/// Datagrams.
pub struct Udp {
    /// The parameters.
    pub config: Config,
}

impl Udp {
    /// With these parameters.
    pub fn new(config: &Config) -> Self {
        Self { config: config.clone() }
    }
}

impl Protocol for Udp {
    type Machine = OneWay<Source, Sink>;
    type Subflows = [Subflow; 1];
    type State = ();

    const IS_DONE_WHEN_SENT: bool = true;

    fn config(&self, _is_within: bool) -> &Config {
        &self.config
    }

    fn open(&mut self, opening: &Opening<'_>, cx: &Ctx<'_, '_>) -> (Self::Machine, ()) {
        if opening.owner.side == 1 {
            return (OneWay::Destination(Sink::new(&self.config, opening.bytes), None), ());
        }
        let random = stream(cx.world.seed, "udp", opening.owner.flow.into());
        (OneWay::Source(Source::new(&self.config, opening.bytes, cx.net.now, random)), ())
    }

    fn read(&self, net: &Network<'_>, packet: PacketId, _side: usize, into: &mut PacketOf<Self>) {
        let [number, ..] = net.packets.content(packet).words;
        *into = Packet::Data(Datagram { number, payload: net.packets.get(packet).header.payload });
    }

    fn write(
        &self,
        net: &mut Network<'_>,
        subflow: &mut Subflow,
        owner: u32,
        packet: &PacketOf<Self>,
    ) -> PacketId {
        let Datagram { number, payload } = match *packet {
            Packet::Data(datagram) => datagram,
            Packet::Answer(never) => match never {},
        };
        let ip_bytes = self.config.framing().headers as u16 + payload;
        let header = Header { payload, ip_bytes, ..subflow.template };
        subflow.packet_with(net, owner, &header, Content { words: [number, 0, 0, 0], note: 0 }, None)
    }

    /// In line, it is called when it is its turn.
    fn deadlines(&mut self, end: &mut End<Self>, _now: Time) -> (Time, Time) {
        let timeout = if end.is_waiting { Time::MAX } else { end.machine.next_timeout(&self.config) };
        (timeout, Time::MAX)
    }
}

impl Transmission for Udp {}
