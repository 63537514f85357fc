//! [`Match`]: which packets a rule is for (section 7.2.3).

use core::net::{Ipv4Addr, Ipv6Addr};

use super::field::{self, FIELD_HEADER_LEN, Masked, Value};
use super::reader::Reader;
use super::{PortNumber, padding};
use crate::writer::Writer;
use crate::{Error, EtherType, IpProtocol, Mac, NeighborOperation};

/// The type of a match made of fields; the only other one is of old versions.
const FIELDS: u16 = 1;
/// The bytes before the fields.
const LEN: usize = 4;
/// The types of ICMPv6 messages of which there are further fields (RFC 4861).
const SOLICITATION: u8 = NeighborOperation::Solicitation as u8;
const ADVERTISEMENT: u8 = NeighborOperation::Advertisement as u8;

macro_rules! fields {
    ($($(#[$doc:meta])* $number:literal $name:ident: $type:ty,)*) => {
        /// Which packets: those in which each field that is given here has this value. Without any, all.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct Match {
            $($(#[$doc])* pub $name: Option<$type>,)*
        }

        impl Match {
            /// The fields of a packet, or of a narrower match, cut to those that are given in `shape`: equal to
            /// `shape` if this lies within it. `None` where one of them, or bits of it, is not given here.
            pub fn cut(&self, shape: &Self) -> Option<Self> {
                let mut cut = Self::default();
                $(if let Some(by) = &shape.$name {
                    cut.$name = Some(self.$name.as_ref()?.cut(by)?);
                })*
                Some(cut)
            }

            /// Which fields are given, and which of their bits, whatever their values: the same for all matches
            /// that look at the same bits.
            pub fn shape(&self) -> Self {
                Self { $($name: self.$name.as_ref().map(Value::shape),)* }
            }

            fn fields_len(&self) -> usize {
                let lens = [$(self.$name.as_ref().map(Value::encoded_len),)*];
                lens.iter().flatten().map(|len| FIELD_HEADER_LEN + len).sum()
            }

            fn put_fields(&self, writer: &mut Writer) {
                $(if let Some(value) = &self.$name {
                    field::put(writer, $number, value);
                })*
            }

            /// Reads the value of a field.
            fn set(&mut self, number: u8, mut value: Reader, masked: bool) -> Result<(), Error> {
                match number {
                    $($number => {
                        let read = Value::read(&mut value, masked)?;
                        if self.$name.replace(read).is_some() {
                            return Err(Error::Repeated { field: stringify!($name) });
                        }
                    })*
                    _ => return Err(Error::Unsupported { field: "match field", value: number.into() }),
                }
                if value.is_empty() {
                    Ok(())
                } else {
                    Err(Error::Unsupported { field: "length of match field", value: number.into() })
                }
            }
        }
    };
}

// In the order of their numbers, in which they are written: what a field needs comes before it.
fields! {
    /// The port by which the packet came.
    0 in_port: PortNumber,
    /// To whom the frame is sent.
    3 eth_dst: Masked,
    /// Who sent it.
    4 eth_src: Mac,
    /// What the frame carries.
    5 eth_type: EtherType,
    /// What the IP packet carries.
    10 ip_proto: IpProtocol,
    /// The sender's address.
    11 ipv4_src: Ipv4Addr,
    /// The receiver's address.
    12 ipv4_dst: Ipv4Addr,
    /// The sender's TCP port.
    13 tcp_src: u16,
    /// The receiver's TCP port.
    14 tcp_dst: u16,
    /// The sender's UDP port.
    15 udp_src: u16,
    /// The receiver's UDP port.
    16 udp_dst: u16,
    /// What an ARP packet does: 1 asks, 2 answers.
    21 arp_op: u16,
    /// The IP address that the sender of an ARP packet says it has.
    22 arp_spa: Ipv4Addr,
    /// The IP address that an ARP packet asks for, or answers to.
    23 arp_tpa: Ipv4Addr,
    /// The MAC address that it says it has.
    24 arp_sha: Mac,
    /// The sender's address.
    26 ipv6_src: Ipv6Addr,
    /// The receiver's address.
    27 ipv6_dst: Ipv6Addr,
    /// The type of an ICMPv6 message.
    29 icmpv6_type: u8,
    /// Whom a message of neighbour discovery asks for, or announces.
    31 ipv6_nd_target: Ipv6Addr,
    /// The link-layer address of the sender in a Neighbour Solicitation.
    32 ipv6_nd_sll: Mac,
    /// The link-layer address of the target in a Neighbour Advertisement.
    33 ipv6_nd_tll: Mac,
}

impl Match {
    /// The bytes of all that matches are given here, padding included.
    pub(crate) fn encoded_len(&self) -> usize {
        let len = LEN + self.fields_len();
        len + padding(len)
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        let len = LEN + self.fields_len();
        writer.put(&FIELDS.to_be_bytes());
        // All fields together have less than 200 bytes.
        writer.put(&(len as u16).to_be_bytes());
        self.put_fields(writer);
        writer.skip(padding(len));
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let mut found = Self::default();
        each_field(reader, |number, masked, value| match number {
            Some(number) => found.set(number, value, masked),
            None => Err(Error::Unsupported { field: "class of match field", value: 0 }),
        })?;
        found.check()?;
        Ok(found)
    }

    /// The port in the match of a packet-in, whose other fields may be any.
    pub(crate) fn read_in_port(reader: &mut Reader) -> Result<PortNumber, Error> {
        let mut found = Self::default();
        each_field(reader, |number, masked, value| match number {
            Some(0) => found.set(0, value, masked),
            _ => Ok(()),
        })?;
        found.in_port.ok_or(Error::Missing { field: "in_port" })
    }

    /// That all is given that says which header a field is of (section 7.2.3.8).
    fn check(&self) -> Result<(), Error> {
        let needs = |given: bool, field, met: bool| {
            if given && !met { Err(Error::Missing { field }) } else { Ok(()) }
        };
        let ethertype = |wanted| self.eth_type == Some(wanted);
        let protocol = |wanted| self.ip_proto == Some(wanted);
        let ip = ethertype(EtherType::IPV4) || ethertype(EtherType::IPV6);
        needs(self.ip_proto.is_some(), "eth_type of IP", ip)?;
        let v4 = self.ipv4_src.is_some() || self.ipv4_dst.is_some();
        needs(v4, "eth_type of IPv4", ethertype(EtherType::IPV4))?;
        let v6 = self.ipv6_src.is_some() || self.ipv6_dst.is_some();
        needs(v6, "eth_type of IPv6", ethertype(EtherType::IPV6))?;
        let arp = [self.arp_spa, self.arp_tpa].iter().any(Option::is_some);
        let arp = arp || self.arp_op.is_some() || self.arp_sha.is_some();
        needs(arp, "eth_type of ARP", ethertype(EtherType::ARP))?;
        let tcp = self.tcp_src.is_some() || self.tcp_dst.is_some();
        needs(tcp, "ip_proto of TCP", protocol(IpProtocol::TCP))?;
        let udp = self.udp_src.is_some() || self.udp_dst.is_some();
        needs(udp, "ip_proto of UDP", protocol(IpProtocol::UDP))?;
        let icmpv6 = ethertype(EtherType::IPV6) && protocol(IpProtocol::ICMPV6);
        needs(self.icmpv6_type.is_some(), "ip_proto of ICMPv6", icmpv6)?;
        let message = |kind| self.icmpv6_type == Some(kind);
        let discovery = message(SOLICITATION) || message(ADVERTISEMENT);
        needs(self.ipv6_nd_target.is_some(), "icmpv6_type of neighbour discovery", discovery)?;
        needs(self.ipv6_nd_sll.is_some(), "icmpv6_type of Neighbour Solicitations", message(SOLICITATION))?;
        needs(self.ipv6_nd_tll.is_some(), "icmpv6_type of Neighbour Advertisements", message(ADVERTISEMENT))
    }
}

/// Calls `with` for each field of a match: its number, unless it is of another class than the specification's;
/// whether it has a mask; its value.
fn each_field<'a>(
    reader: &mut Reader<'a>,
    mut with: impl FnMut(Option<u8>, bool, Reader<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (kind, len) = (reader.u16()?, usize::from(reader.u16()?));
    if kind != FIELDS {
        return Err(Error::Unsupported { field: "type of match", value: kind });
    }
    let given = len.checked_sub(LEN).ok_or(Error::HeaderLength { least: LEN, given: len })?;
    let mut fields = reader.part(given)?;
    reader.skip(padding(len))?;
    while !fields.is_empty() {
        let (number, masked, len) = field::read_header(&mut fields)?;
        with(number, masked, fields.part(len)?)?;
    }
    Ok(())
}
