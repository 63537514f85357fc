//! [`Match`]: the packets to which a rule applies (section 7.2.3).

use core::net::{Ipv4Addr, Ipv6Addr};

use super::PortNumber;
use super::field::{self, FIELD_HEADER_LEN, Masked, Value};
use super::padding::padding;
use super::reader::Reader;
use crate::writer::Writer;
use crate::{Error, EtherType, IpProtocol, Mac, NeighborOperation};

/// The type of a match made of fields; the only other one is obsolete.
const FIELDS: u16 = 1;
/// Length of a match before its fields.
const LEN: usize = 4;
/// The types of ICMPv6 messages that have further fields (RFC 4861).
const SOLICITATION: u8 = NeighborOperation::Solicitation as u8;
const ADVERTISEMENT: u8 = NeighborOperation::Advertisement as u8;

macro_rules! fields {
    ($($(#[$doc:meta])* $number:literal $name:ident: $type:ty,)*) => {
        /// Packets in which each given field has this value; without fields, all.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct Match {
            $($(#[$doc])* pub $name: Option<$type>,)*
        }

        impl Match {
            /// The given fields of a packet, or of a narrower match, masked to `shape`: equal to `shape` if
            /// this match lies within it. `None` if a field or bits of it are not given here.
            pub fn cut(&self, shape: &Self) -> Option<Self> {
                let mut cut = Self::default();
                $(if let Some(by) = &shape.$name {
                    cut.$name = Some(self.$name.as_ref()?.cut(by)?);
                })*
                Some(cut)
            }

            /// The fields and bits that are given, whatever their values: the same for all matches on the same
            /// bits.
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

// In order of number, as written: a field's prerequisites come first.
fields! {
    /// The ingress port.
    0 in_port: PortNumber,
    /// The Ethernet destination.
    3 eth_dst: Masked,
    /// The Ethernet source.
    4 eth_src: Mac,
    /// The EtherType.
    5 eth_type: EtherType,
    /// The IP protocol.
    10 ip_proto: IpProtocol,
    /// The IPv4 source.
    11 ipv4_src: Ipv4Addr,
    /// The IPv4 destination.
    12 ipv4_dst: Ipv4Addr,
    /// The TCP source port.
    13 tcp_src: u16,
    /// The TCP destination port.
    14 tcp_dst: u16,
    /// The UDP source port.
    15 udp_src: u16,
    /// The UDP destination port.
    16 udp_dst: u16,
    /// The ARP operation: 1 for a request, 2 for a reply.
    21 arp_op: u16,
    /// The sender's IP address in ARP.
    22 arp_spa: Ipv4Addr,
    /// The target's IP address in ARP.
    23 arp_tpa: Ipv4Addr,
    /// The sender's MAC address in ARP.
    24 arp_sha: Mac,
    /// The IPv6 source.
    26 ipv6_src: Ipv6Addr,
    /// The IPv6 destination.
    27 ipv6_dst: Ipv6Addr,
    /// The type of an ICMPv6 message.
    29 icmpv6_type: u8,
    /// The target of a neighbour discovery message.
    31 ipv6_nd_target: Ipv6Addr,
    /// The sender's link-layer address in a Neighbour Solicitation.
    32 ipv6_nd_sll: Mac,
    /// The target's link-layer address in a Neighbour Advertisement.
    33 ipv6_nd_tll: Mac,
}

impl Match {
    /// Length of the given fields, with header and padding.
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

    /// Reads the port in the match of a packet-in, which may have any other fields.
    pub(crate) fn read_in_port(reader: &mut Reader) -> Result<PortNumber, Error> {
        let mut found = Self::default();
        each_field(reader, |number, masked, value| match number {
            Some(0) => found.set(0, value, masked),
            _ => Ok(()),
        })?;
        found.in_port.ok_or(Error::Missing { field: "in_port" })
    }

    /// Checks the prerequisites of each field (section 7.2.3.8).
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

/// Calls `with` for each field of a match: its number, `None` if of another class than the specification's;
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
