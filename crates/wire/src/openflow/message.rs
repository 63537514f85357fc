//! [`Message`]: reads and writes any message.

use super::config::SwitchConfig;
use super::error_message::ErrorMessage;
use super::features::Features;
use super::flow_mod::FlowMod;
use super::flow_removed::FlowRemoved;
use super::header::{Header, MessageType, VERSION};
use super::hello::Hello;
use super::multipart::{MultipartReply, MultipartRequest};
use super::packet_in::PacketIn;
use super::packet_out::PacketOut;
use super::port::PortStatus;
use super::reader::Reader;
use super::role::RoleMessage;
use crate::Error;
use crate::writer::Writer;

/// The messages between a controller and a switch. Requests come from the controller, except echoes, which come
/// from either.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "each has the name of its content, or of the specification")]
pub enum Message<'a> {
    Hello(Hello),
    Error(ErrorMessage<'a>),
    EchoRequest(&'a [u8]),
    EchoReply(&'a [u8]),
    FeaturesRequest,
    FeaturesReply(Features),
    GetConfigRequest,
    GetConfigReply(SwitchConfig),
    SetConfig(SwitchConfig),
    PacketIn(PacketIn<'a>),
    FlowRemoved(FlowRemoved),
    PortStatus(PortStatus),
    PacketOut(PacketOut<'a>),
    FlowMod(FlowMod<'a>),
    MultipartRequest(MultipartRequest),
    MultipartReply(MultipartReply<'a>),
    BarrierRequest,
    BarrierReply,
    RoleRequest(RoleMessage),
    RoleReply(RoleMessage),
}

impl<'a> Message<'a> {
    /// Parses a complete message, as returned by [`Messages`](super::Messages), and its transaction id.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::HeaderLength`]; [`Error::Version`] if it is not OpenFlow 1.3, unless it is a
    /// Hello; [`Error::Type`]; for its body [`Error::Unsupported`], [`Error::Missing`], [`Error::Repeated`].
    pub fn parse(bytes: &'a [u8]) -> Result<(u32, Self), Error> {
        let header = Header::parse(bytes)?;
        let length = usize::from(header.length);
        let short = Error::Short { need: length, have: bytes.len() };
        let mut reader = Reader::new(bytes.get(..length).ok_or(short)?);
        reader.skip(Header::LEN)?;
        if header.version != VERSION && header.message_type != MessageType::HELLO {
            return Err(Error::Version(header.version));
        }
        let reader = &mut reader;
        let message = match header.message_type {
            MessageType::HELLO => Self::Hello(Hello::read(header.version, reader)?),
            MessageType::ERROR => Self::Error(ErrorMessage::read(reader)?),
            MessageType::ECHO_REQUEST => Self::EchoRequest(reader.rest()),
            MessageType::ECHO_REPLY => Self::EchoReply(reader.rest()),
            MessageType::FEATURES_REQUEST => Self::FeaturesRequest,
            MessageType::FEATURES_REPLY => Self::FeaturesReply(Features::read(reader)?),
            MessageType::GET_CONFIG_REQUEST => Self::GetConfigRequest,
            MessageType::GET_CONFIG_REPLY => Self::GetConfigReply(SwitchConfig::read(reader)?),
            MessageType::SET_CONFIG => Self::SetConfig(SwitchConfig::read(reader)?),
            MessageType::PACKET_IN => Self::PacketIn(PacketIn::read(reader)?),
            MessageType::FLOW_REMOVED => Self::FlowRemoved(FlowRemoved::read(reader)?),
            MessageType::PORT_STATUS => Self::PortStatus(PortStatus::read(reader)?),
            MessageType::PACKET_OUT => Self::PacketOut(PacketOut::read(reader)?),
            MessageType::FLOW_MOD => Self::FlowMod(FlowMod::read(reader)?),
            MessageType::MULTIPART_REQUEST => Self::MultipartRequest(MultipartRequest::read(reader)?),
            MessageType::MULTIPART_REPLY => Self::MultipartReply(MultipartReply::read(reader)?),
            MessageType::BARRIER_REQUEST => Self::BarrierRequest,
            MessageType::BARRIER_REPLY => Self::BarrierReply,
            MessageType::ROLE_REQUEST => Self::RoleRequest(RoleMessage::read(reader)?),
            MessageType::ROLE_REPLY => Self::RoleReply(RoleMessage::read(reader)?),
            MessageType(other) => return Err(Error::Type(other)),
        };
        Ok((header.xid, message))
    }

    /// Writes the message with transaction id `xid`; returns its length.
    ///
    /// # Errors
    /// [`Error::Buffer`], for `out` or the maximum of 65535 bytes per message.
    pub fn write(&self, xid: u32, out: &mut [u8]) -> Result<usize, Error> {
        let need = self.encoded_len();
        let length = u16::try_from(need).map_err(|_| Error::Buffer { need, have: u16::MAX.into() })?;
        let mut writer = Writer::new(out, need)?;
        let writer = &mut writer;
        let version = if let Self::Hello(hello) = self { hello.version } else { VERSION };
        Header { version, message_type: self.message_type(), length, xid }.put(writer);
        match self {
            Self::FeaturesRequest | Self::GetConfigRequest | Self::BarrierRequest | Self::BarrierReply => {}
            Self::Hello(hello) => hello.put(writer),
            Self::Error(error) => error.put(writer),
            Self::EchoRequest(data) | Self::EchoReply(data) => writer.put(data),
            Self::FeaturesReply(features) => features.put(writer),
            Self::GetConfigReply(config) | Self::SetConfig(config) => config.put(writer),
            Self::PacketIn(packet) => packet.put(writer),
            Self::FlowRemoved(removed) => removed.put(writer),
            Self::PortStatus(status) => status.put(writer),
            Self::PacketOut(packet) => packet.put(writer),
            Self::FlowMod(change) => change.put(writer),
            Self::MultipartRequest(request) => request.put(writer),
            Self::MultipartReply(reply) => reply.put(writer),
            Self::RoleRequest(role) | Self::RoleReply(role) => role.put(writer),
        }
        Ok(need)
    }

    /// Its length when written.
    pub fn encoded_len(&self) -> usize {
        Header::LEN
            + match self {
                Self::FeaturesRequest
                | Self::GetConfigRequest
                | Self::BarrierRequest
                | Self::BarrierReply => 0,
                Self::Hello(hello) => hello.encoded_len(),
                Self::Error(error) => error.encoded_len(),
                Self::EchoRequest(data) | Self::EchoReply(data) => data.len(),
                Self::FeaturesReply(features) => features.encoded_len(),
                Self::GetConfigReply(config) | Self::SetConfig(config) => config.encoded_len(),
                Self::PacketIn(packet) => packet.encoded_len(),
                Self::FlowRemoved(removed) => removed.encoded_len(),
                Self::PortStatus(status) => status.encoded_len(),
                Self::PacketOut(packet) => packet.encoded_len(),
                Self::FlowMod(change) => change.encoded_len(),
                Self::MultipartRequest(request) => request.encoded_len(),
                Self::MultipartReply(reply) => reply.encoded_len(),
                Self::RoleRequest(role) | Self::RoleReply(role) => role.encoded_len(),
            }
    }

    /// Its type.
    pub const fn message_type(&self) -> MessageType {
        match self {
            Self::Hello(_) => MessageType::HELLO,
            Self::Error(_) => MessageType::ERROR,
            Self::EchoRequest(_) => MessageType::ECHO_REQUEST,
            Self::EchoReply(_) => MessageType::ECHO_REPLY,
            Self::FeaturesRequest => MessageType::FEATURES_REQUEST,
            Self::FeaturesReply(_) => MessageType::FEATURES_REPLY,
            Self::GetConfigRequest => MessageType::GET_CONFIG_REQUEST,
            Self::GetConfigReply(_) => MessageType::GET_CONFIG_REPLY,
            Self::SetConfig(_) => MessageType::SET_CONFIG,
            Self::PacketIn(_) => MessageType::PACKET_IN,
            Self::FlowRemoved(_) => MessageType::FLOW_REMOVED,
            Self::PortStatus(_) => MessageType::PORT_STATUS,
            Self::PacketOut(_) => MessageType::PACKET_OUT,
            Self::FlowMod(_) => MessageType::FLOW_MOD,
            Self::MultipartRequest(_) => MessageType::MULTIPART_REQUEST,
            Self::MultipartReply(_) => MessageType::MULTIPART_REPLY,
            Self::BarrierRequest => MessageType::BARRIER_REQUEST,
            Self::BarrierReply => MessageType::BARRIER_REPLY,
            Self::RoleRequest(_) => MessageType::ROLE_REQUEST,
            Self::RoleReply(_) => MessageType::ROLE_REPLY,
        }
    }
}
