//! Random messages of all kinds.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use weft_wire::openflow::{
    Action, ErrorMessage, Features, FlowCommand, FlowCounts, FlowFlags, FlowMod, FlowRemoved, FlowStats,
    FlowStatsRequest, Hello, List, Masked, Match, Message, MultipartReply, MultipartRequest, PacketIn,
    PacketInReason, PacketOut, Port, PortNumber, PortReason, PortStatus, RemovedReason, Role, RoleMessage,
    SwitchConfig, SwitchDescription,
};
use weft_wire::{EtherType, IpProtocol, Mac};

pub fn mac() -> impl Strategy<Value = Mac> {
    any::<[u8; 6]>().prop_map(Mac)
}

fn port_number() -> impl Strategy<Value = PortNumber> {
    prop_oneof![1..100_u32, any::<u32>()].prop_map(PortNumber)
}

fn bytes(most: usize) -> impl Strategy<Value = &'static [u8]> {
    vec(any::<u8>(), 0..most).prop_map(|bytes| &*bytes.leak())
}

fn text(most: usize) -> impl Strategy<Value = &'static [u8]> {
    vec(1..=255_u8, 0..most).prop_map(|bytes| &*bytes.leak())
}

/// A match with the prerequisites of its fields.
pub fn matching() -> impl Strategy<Value = Match> {
    let ethernet = (
        proptest::option::of(port_number()),
        proptest::option::of((mac(), prop_oneof![Just(Mac::BROADCAST), mac()])),
        proptest::option::of(mac()),
    );
    let above = (0..8, any::<[Option<u16>; 2]>(), any::<[Option<u32>; 2]>(), any::<[Option<u128>; 2]>());
    (ethernet, above).prop_map(|((in_port, eth_dst, eth_src), (kind, [from, to], v4, v6))| {
        let mut matching = Match {
            in_port,
            eth_dst: eth_dst.map(|(value, mask)| Masked::new(value, mask)),
            eth_src,
            ..Match::default()
        };
        if kind == 7 {
            let [arp_spa, arp_tpa] = v4.map(|of| of.map(Ipv4Addr::from));
            return Match {
                eth_type: Some(EtherType::ARP),
                arp_op: from,
                arp_spa,
                arp_tpa,
                arp_sha: eth_src,
                ..matching
            };
        }
        if kind == 0 {
            return Match { eth_type: from.map(EtherType), ..matching };
        }
        if kind & 1 == 0 {
            matching.eth_type = Some(EtherType::IPV4);
            [matching.ipv4_src, matching.ipv4_dst] = v4.map(|of| of.map(Ipv4Addr::from));
        } else {
            matching.eth_type = Some(EtherType::IPV6);
            [matching.ipv6_src, matching.ipv6_dst] = v6.map(|of| of.map(Ipv6Addr::from));
        }
        match kind >> 1 {
            0 => {
                matching.ip_proto = Some(IpProtocol::ICMPV6);
                matching.icmpv6_type = match to {
                    Some(kind) if kind & 1 == 0 => Some(135 + (kind >> 15) as u8),
                    _ => from.map(|of| of as u8),
                };
                match matching.icmpv6_type {
                    Some(135) => matching.ipv6_nd_sll = eth_src,
                    Some(136) => matching.ipv6_nd_tll = eth_src,
                    _ => return matching,
                }
                matching.ipv6_nd_target = v6[0].map(Ipv6Addr::from);
            }
            1 => {
                matching.ip_proto = Some(IpProtocol::TCP);
                (matching.tcp_src, matching.tcp_dst) = (from, to);
            }
            2 => {
                matching.ip_proto = Some(IpProtocol::UDP);
                (matching.udp_src, matching.udp_dst) = (from, to);
            }
            _ => matching.ip_proto = from.map(|of| IpProtocol(of as u8)),
        }
        matching
    })
}

fn actions() -> impl Strategy<Value = List<'static, Action>> {
    let action = prop_oneof![
        (port_number(), any::<u16>()).prop_map(|(port, max_len)| Action::Output { port, max_len }),
        mac().prop_map(Action::SetEthDst),
    ];
    vec(action, 0..5).prop_map(|actions| List::new(actions.leak()))
}

fn port() -> impl Strategy<Value = Port> {
    (port_number(), mac(), any::<[u8; 16]>(), any::<[u32; 8]>()).prop_map(
        |(number, address, name, [config, state, a, b, c, d, speed, max_speed])| Port {
            number,
            address,
            name,
            config,
            state,
            features: [a, b, c, d],
            speed,
            max_speed,
        },
    )
}

fn flow() -> impl Strategy<Value = FlowStats<'static>> {
    (any::<(u8, [u32; 2], [u16; 4], [u64; 3])>(), matching(), actions()).prop_map(
        |((table, durations, shorts, longs), matching, actions)| FlowStats {
            table,
            duration_s: durations[0],
            duration_ns: durations[1],
            priority: shorts[0],
            idle_timeout: shorts[1],
            hard_timeout: shorts[2],
            flags: FlowFlags(shorts[3]),
            cookie: longs[0],
            packets: longs[1],
            bytes: longs[2],
            matching,
            actions,
        },
    )
}

fn flow_mod() -> impl Strategy<Value = FlowMod<'static>> {
    use FlowCommand::{Add, Delete, DeleteStrict, Modify, ModifyStrict};
    let command = select(vec![Add, Modify, ModifyStrict, Delete, DeleteStrict]);
    let numbers = (any::<([u64; 2], u8, [u16; 4], u32)>(), port_number(), buffer());
    (numbers, command, matching(), actions()).prop_map(
        |(((longs, table, shorts, out_group), out_port, buffer), command, matching, actions)| FlowMod {
            cookie: longs[0],
            cookie_mask: longs[1],
            table,
            command,
            idle_timeout: shorts[0],
            hard_timeout: shorts[1],
            priority: shorts[2],
            buffer,
            out_port,
            out_group,
            flags: FlowFlags(shorts[3]),
            matching,
            actions,
        },
    )
}

fn buffer() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(0..u32::MAX)
}

fn packet_in() -> impl Strategy<Value = PacketIn<'static>> {
    let reason = any::<u8>().prop_map(PacketInReason);
    (buffer(), any::<(u16, u8, u64)>(), reason, port_number(), bytes(200)).prop_map(
        |(buffer, (total_len, table, cookie), reason, in_port, data)| PacketIn {
            buffer,
            total_len,
            reason,
            table,
            cookie,
            in_port,
            data,
        },
    )
}

fn removed() -> impl Strategy<Value = FlowRemoved> {
    let reason = any::<u8>().prop_map(RemovedReason);
    (any::<([u64; 3], [u16; 3], u8, [u32; 2])>(), reason, matching()).prop_map(
        |((longs, shorts, table, durations), reason, matching)| FlowRemoved {
            cookie: longs[0],
            priority: shorts[0],
            reason,
            table,
            duration_s: durations[0],
            duration_ns: durations[1],
            idle_timeout: shorts[1],
            hard_timeout: shorts[2],
            packets: longs[1],
            bytes: longs[2],
            matching,
        },
    )
}

fn multipart_reply() -> impl Strategy<Value = MultipartReply<'static>> {
    let texts = (text(256), text(256), text(256), text(32), text(256));
    prop_oneof![
        texts.prop_map(|(manufacturer, hardware, software, serial, datapath)| {
            let of = SwitchDescription { manufacturer, hardware, software, serial, datapath };
            MultipartReply::Description(of)
        }),
        (vec(flow(), 0..6), any::<bool>())
            .prop_map(|(flows, more)| MultipartReply::Flows { flows: List::new(flows.leak()), more }),
        any::<(u64, u64, u32)>().prop_map(|(packets, bytes, flows)| {
            MultipartReply::Counts(FlowCounts { packets, bytes, flows })
        }),
        (vec(port(), 0..6), any::<bool>())
            .prop_map(|(ports, more)| MultipartReply::Ports { ports: List::new(ports.leak()), more }),
    ]
}

fn multipart_request() -> impl Strategy<Value = MultipartRequest> {
    let flows = (any::<(u8, u32, [u64; 2])>(), port_number(), matching())
        .prop_map(|((table, out_group, [cookie, cookie_mask]), out_port, matching)| FlowStatsRequest {
            table,
            out_port,
            out_group,
            cookie,
            cookie_mask,
            matching,
        })
        .boxed();
    prop_oneof![
        Just(MultipartRequest::Description),
        Just(MultipartRequest::Ports),
        flows.clone().prop_map(MultipartRequest::Flows),
        flows.prop_map(MultipartRequest::Counts),
    ]
}

/// Any message.
pub fn message() -> impl Strategy<Value = Message<'static>> {
    let hello = any::<(u8, Option<u32>)>().prop_map(|(version, bitmap)| Hello { version, bitmap });
    let error =
        (any::<[u16; 2]>(), bytes(80)).prop_map(|([kind, code], data)| ErrorMessage { kind, code, data });
    let features = any::<(u64, u32, [u8; 2], u32)>().prop_map(
        |(datapath, buffers, [tables, auxiliary], capabilities)| Features {
            datapath,
            buffers,
            tables,
            auxiliary,
            capabilities,
        },
    );
    let config = any::<[u16; 2]>().prop_map(|[flags, miss_send_len]| SwitchConfig { flags, miss_send_len });
    let role = (select(vec![Role::NoChange, Role::Equal, Role::Primary, Role::Secondary]), any::<u64>())
        .prop_map(|(role, generation)| RoleMessage { role, generation });
    let reason = select(vec![PortReason::Add, PortReason::Delete, PortReason::Modify]);
    let status = (reason, port()).prop_map(|(reason, port)| PortStatus { reason, port });
    let packet_out = (buffer(), port_number(), actions(), bytes(200))
        .prop_map(|(buffer, in_port, actions, data)| PacketOut { buffer, in_port, actions, data });
    let bare = vec![
        Message::FeaturesRequest,
        Message::GetConfigRequest,
        Message::BarrierRequest,
        Message::BarrierReply,
    ];
    prop_oneof![
        select(bare),
        hello.prop_map(Message::Hello),
        error.prop_map(Message::Error),
        bytes(40).prop_map(Message::EchoRequest),
        bytes(40).prop_map(Message::EchoReply),
        features.prop_map(Message::FeaturesReply),
        config.clone().prop_map(Message::GetConfigReply),
        config.prop_map(Message::SetConfig),
        packet_in().prop_map(Message::PacketIn),
        removed().prop_map(Message::FlowRemoved),
        status.prop_map(Message::PortStatus),
        packet_out.prop_map(Message::PacketOut),
        flow_mod().prop_map(Message::FlowMod),
        multipart_request().prop_map(Message::MultipartRequest),
        multipart_reply().prop_map(Message::MultipartReply),
        role.clone().prop_map(Message::RoleRequest),
        role.prop_map(Message::RoleReply),
    ]
}

/// The bytes of a message.
pub fn written(message: &Message, xid: u32) -> Vec<u8> {
    let mut out = vec![0xa5; message.encoded_len()];
    assert_eq!(message.write(xid, &mut out), Ok(out.len()));
    out
}
