//! [`TcpFrame`]: a frame parsed down to TCP, which identifies its flow.

use crate::{Error, Ethernet, Ip, IpProtocol, Tcp, Tuple};

/// A frame that carries a TCP segment over IPv4 or IPv6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpFrame<'a> {
    ethernet: Ethernet<'a>,
    ip: Ip<'a>,
    tcp: Tcp<'a>,
}

impl<'a> TcpFrame<'a> {
    /// Parses the headers of `frame`.
    ///
    /// # Errors
    /// [`Error::EtherType`] and [`Error::Protocol`] for other protocols; [`Error::Fragment`];
    /// [`Error::Unsupported`] if both ports are 0; the errors of each header.
    pub fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        let ethernet = Ethernet::parse(frame)?;
        let ip = Ip::parse(&ethernet)?;
        if ip.protocol() != IpProtocol::TCP {
            return Err(Error::Protocol(ip.protocol()));
        }
        if ip.is_fragment() {
            return Err(Error::Fragment);
        }
        let tcp = Tcp::parse(ip.payload())?;
        // A Path frame without ports is not about a flow. Port 0 is reserved (RFC 6335, section 6).
        if (tcp.source_port(), tcp.destination_port()) == (0, 0) {
            return Err(Error::Unsupported { field: "TCP ports", value: 0 });
        }
        Ok(Self { ethernet, ip, tcp })
    }

    /// Its Ethernet header.
    pub const fn ethernet(&self) -> &Ethernet<'a> {
        &self.ethernet
    }

    /// Its IP header.
    pub const fn ip(&self) -> &Ip<'a> {
        &self.ip
    }

    /// Its TCP header.
    pub const fn tcp(&self) -> &Tcp<'a> {
        &self.tcp
    }

    /// Its flow.
    pub const fn tuple(&self) -> Tuple {
        Tuple {
            source: self.ethernet.source(),
            source_port: self.tcp.source_port(),
            destination: self.ethernet.destination(),
            destination_port: self.tcp.destination_port(),
        }
    }
}
