//! ARP for IPv4 over Ethernet (RFC 826).

use core::net::Ipv4Addr;

use crate::writer::Writer;
use crate::{Error, EtherType, Ethernet, Mac};

/// The operation of an ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
pub enum ArpOperation {
    /// Requests the target's MAC address, or announces the host's own.
    Request = 1,
    /// Answers with the sender's MAC address.
    Reply = 2,
}

/// A validated ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp<'a> {
    packet: &'a [u8; Arp::LEN],
    operation: ArpOperation,
}

impl<'a> Arp<'a> {
    /// Length of a packet in bytes, without padding.
    pub const LEN: usize = 28;

    /// Parses the packet in `ethernet`.
    ///
    /// # Errors
    /// [`Error::EtherType`], [`Error::Short`], and [`Error::Unsupported`] if it is not a request or reply
    /// for IPv4 over Ethernet.
    pub fn parse(ethernet: &Ethernet<'a>) -> Result<Self, Error> {
        let payload = ethernet.require(EtherType::ARP)?.payload();
        let short = Error::Short { need: Self::LEN, have: payload.len() };
        let packet: &[u8; Arp::LEN] = payload.first_chunk().ok_or(short)?;
        let unsupported = |field, value| Err(Error::Unsupported { field, value });
        match u16::from_be_bytes([packet[0], packet[1]]) {
            1 => {}
            other => return unsupported("ARP hardware type", other),
        }
        match u16::from_be_bytes([packet[2], packet[3]]) {
            0x0800 => {}
            other => return unsupported("ARP protocol type", other),
        }
        match (packet[4], packet[5]) {
            (6, 4) => {}
            (6, other) => return unsupported("ARP protocol address length", other.into()),
            (other, _) => return unsupported("ARP hardware address length", other.into()),
        }
        let operation = match u16::from_be_bytes([packet[6], packet[7]]) {
            1 => ArpOperation::Request,
            2 => ArpOperation::Reply,
            other => return unsupported("ARP operation", other),
        };
        Ok(Self { packet, operation })
    }

    /// Length of a frame with a packet, without padding.
    pub const FRAME_LEN: usize = Ethernet::HEADER_LEN + Self::LEN;

    /// A request or reply of `sender` about `target`, sent to `destination`.
    pub fn frame(
        operation: ArpOperation,
        destination: Mac,
        sender: (Mac, Ipv4Addr),
        target: (Mac, Ipv4Addr),
    ) -> [u8; Arp::FRAME_LEN] {
        let mut frame = [0; Arp::FRAME_LEN];
        if let Ok(mut writer) = Writer::new(&mut frame, Arp::FRAME_LEN) {
            writer.put(&destination.0);
            writer.put(&sender.0.0);
            writer.put(&EtherType::ARP.0.to_be_bytes());
            // Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses.
            writer.put(&[0, 1, 8, 0, 6, 4]);
            writer.put(&(operation as u16).to_be_bytes());
            for (mac, ip) in [sender, target] {
                writer.put(&mac.0);
                writer.put(&ip.octets());
            }
        }
        frame
    }

    /// The operation.
    pub const fn operation(&self) -> ArpOperation {
        self.operation
    }

    /// The sender's MAC address.
    pub const fn sender(&self) -> Mac {
        let [_, _, _, _, _, _, _, _, a, b, c, d, e, f, ..] = *self.packet;
        Mac([a, b, c, d, e, f])
    }

    /// The sender's IPv4 address; 0.0.0.0 in a probe for duplicates (RFC 5227).
    pub const fn sender_ip(&self) -> Ipv4Addr {
        let p = self.packet;
        Ipv4Addr::new(p[14], p[15], p[16], p[17])
    }

    /// The target's MAC address; meaningless in a request.
    pub const fn target(&self) -> Mac {
        let p = self.packet;
        Mac([p[18], p[19], p[20], p[21], p[22], p[23]])
    }

    /// The target's IPv4 address.
    pub const fn target_ip(&self) -> Ipv4Addr {
        let [.., a, b, c, d] = *self.packet;
        Ipv4Addr::new(a, b, c, d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (sender, target) =
            ((Mac([2; 6]), Ipv4Addr::new(10, 0, 0, 1)), (Mac([4; 6]), Ipv4Addr::new(10, 0, 0, 9)));
        let frame = Arp::frame(ArpOperation::Reply, target.0, sender, target);
        let ethernet = Ethernet::parse(&frame).unwrap();
        let arp = Arp::parse(&ethernet).unwrap();
        assert_eq!((ethernet.destination(), ethernet.source()), (target.0, sender.0));
        assert_eq!(arp.operation(), ArpOperation::Reply);
        assert_eq!(((arp.sender(), arp.sender_ip()), (arp.target(), arp.target_ip())), (sender, target));
    }

    #[test]
    fn what_is_not_ipv4_over_ethernet_is_refused_by_field() {
        let mut good = [0xa5; 42];
        good[12..22].copy_from_slice(&[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2]);
        let arp = |frame: &[u8]| Arp::parse(&Ethernet::parse(frame)?).map(|arp| arp.operation());
        assert_eq!(arp(&good), Ok(ArpOperation::Reply));
        for (at, value, field, read) in [
            (15, 6, "ARP hardware type", 6),
            (16, 9, "ARP protocol type", 0x0900),
            (18, 8, "ARP hardware address length", 8),
            (19, 16, "ARP protocol address length", 16),
            (20, 1, "ARP operation", 0x0102),
            (21, 3, "ARP operation", 3),
        ] {
            let mut frame = good;
            frame[at] = value;
            assert_eq!(arp(&frame), Err(Error::Unsupported { field, value: read }));
        }
    }
}
