//! The messages of `openflow_vectors.json`, written or read by os-ken (`openflow_vectors.py`), are parsed and
//! written exactly.

use std::fmt::Debug;

use serde_json::Value;
use weft_wire::openflow::{
    Action, ErrorMessage, Features, FlowCommand, FlowCounts, FlowFlags, FlowMod, FlowRemoved, FlowStats,
    FlowStatsRequest, Hello, List, Masked, Match, Message, MultipartReply, MultipartRequest, PacketIn,
    PacketInReason, PacketOut, Port, PortNumber, PortReason, PortStatus, RemovedReason, Role, RoleMessage,
    SwitchConfig, SwitchDescription,
};
use weft_wire::{EtherType, IpProtocol, Mac};

use crate::json::unhex;

/// The content of a vector, or a part of it.
#[derive(Clone, Copy)]
struct Says<'a>(&'a Value);

impl Says<'_> {
    fn number<T: TryFrom<u64, Error: Debug>>(&self, key: &str) -> T {
        self.0[key].as_u64().unwrap_or_else(|| panic!("no {key} in {}", self.0)).try_into().unwrap()
    }

    fn text(&self, key: &str) -> &'static str {
        self.0[key].as_str().unwrap_or_else(|| panic!("no {key} in {}", self.0)).to_owned().leak()
    }

    fn bytes(&self, key: &str) -> &'static [u8] {
        unhex(self.text(key)).leak()
    }

    fn buffer(&self) -> Option<u32> {
        self.0["buffer_id"].as_u64().map(|id| id.try_into().unwrap())
    }

    fn actions(&self) -> List<'static, Action> {
        let action = |of: &Value| match of[0].as_str().unwrap() {
            "output" => Action::Output { port: port_number(&of[1]), max_len: of[2].as_u64().unwrap() as u16 },
            _ => Action::SetEthDst(mac(&of[1])),
        };
        List::new(self.0["actions"].as_array().unwrap().iter().map(action).collect::<Vec<_>>().leak())
    }

    fn matching(&self) -> Match {
        let mut matching = Match::default();
        for (name, of) in self.0["match"].as_object().unwrap() {
            let number = || Some(of.as_u64().unwrap() as u16);
            match &name[..] {
                "in_port" => matching.in_port = Some(port_number(of)),
                "eth_dst" if of.is_array() => {
                    matching.eth_dst = Some(Masked::new(mac(&of[0]), mac(&of[1])));
                }
                "eth_dst" => matching.eth_dst = Some(Masked::exact(mac(of))),
                "eth_src" => matching.eth_src = Some(mac(of)),
                "eth_type" => matching.eth_type = number().map(EtherType),
                "ip_proto" => matching.ip_proto = Some(IpProtocol(of.as_u64().unwrap() as u8)),
                "ipv4_src" => matching.ipv4_src = Some(of.as_str().unwrap().parse().unwrap()),
                "ipv4_dst" => matching.ipv4_dst = Some(of.as_str().unwrap().parse().unwrap()),
                "ipv6_src" => matching.ipv6_src = Some(of.as_str().unwrap().parse().unwrap()),
                "ipv6_dst" => matching.ipv6_dst = Some(of.as_str().unwrap().parse().unwrap()),
                "tcp_src" => matching.tcp_src = number(),
                "tcp_dst" => matching.tcp_dst = number(),
                "udp_src" => matching.udp_src = number(),
                "udp_dst" => matching.udp_dst = number(),
                "arp_op" => matching.arp_op = number(),
                "arp_spa" => matching.arp_spa = Some(of.as_str().unwrap().parse().unwrap()),
                "arp_tpa" => matching.arp_tpa = Some(of.as_str().unwrap().parse().unwrap()),
                "arp_sha" => matching.arp_sha = Some(mac(of)),
                "ipv6_nd_target" => matching.ipv6_nd_target = Some(of.as_str().unwrap().parse().unwrap()),
                "ipv6_nd_sll" => matching.ipv6_nd_sll = Some(mac(of)),
                "ipv6_nd_tll" => matching.ipv6_nd_tll = Some(mac(of)),
                "icmpv6_type" => matching.icmpv6_type = Some(of.as_u64().unwrap() as u8),
                other => panic!("unknown match field {other}"),
            }
        }
        matching
    }

    fn command(&self) -> FlowCommand {
        match self.number::<u8>("command") {
            0 => FlowCommand::Add,
            1 => FlowCommand::Modify,
            2 => FlowCommand::ModifyStrict,
            3 => FlowCommand::Delete,
            _ => FlowCommand::DeleteStrict,
        }
    }

    fn config(&self) -> SwitchConfig {
        SwitchConfig { flags: self.number("flags"), miss_send_len: self.number("miss_send_len") }
    }

    fn role(&self) -> RoleMessage {
        let role = match self.number::<u8>("role") {
            0 => Role::NoChange,
            1 => Role::Equal,
            2 => Role::Primary,
            _ => Role::Secondary,
        };
        RoleMessage { role, generation: self.number("generation_id") }
    }

    fn port(&self) -> Port {
        Port {
            number: PortNumber(self.number("port_no")),
            address: mac(&self.0["hw_addr"]),
            name: Port::name_of(self.text("name")),
            config: self.number("config"),
            state: self.number("state"),
            features: ["curr", "advertised", "supported", "peer"].map(|key| self.number(key)),
            speed: self.number("curr_speed"),
            max_speed: self.number("max_speed"),
        }
    }

    fn flow(&self) -> FlowStats<'static> {
        FlowStats {
            table: self.number("table_id"),
            duration_s: self.number("duration_sec"),
            duration_ns: self.number("duration_nsec"),
            priority: self.number("priority"),
            idle_timeout: self.number("idle_timeout"),
            hard_timeout: self.number("hard_timeout"),
            flags: FlowFlags(self.number("flags")),
            cookie: self.number("cookie"),
            packets: self.number("packet_count"),
            bytes: self.number("byte_count"),
            matching: self.matching(),
            actions: self.actions(),
        }
    }

    fn removed(&self) -> FlowRemoved {
        FlowRemoved {
            cookie: self.number("cookie"),
            priority: self.number("priority"),
            reason: RemovedReason(self.number("reason")),
            table: self.number("table_id"),
            duration_s: self.number("duration_sec"),
            duration_ns: self.number("duration_nsec"),
            idle_timeout: self.number("idle_timeout"),
            hard_timeout: self.number("hard_timeout"),
            packets: self.number("packet_count"),
            bytes: self.number("byte_count"),
            matching: self.matching(),
        }
    }

    fn asked(&self) -> FlowStatsRequest {
        FlowStatsRequest {
            table: self.number("table_id"),
            out_port: PortNumber(self.number("out_port")),
            out_group: self.number("out_group"),
            cookie: self.number("cookie"),
            cookie_mask: self.number("cookie_mask"),
            matching: self.matching(),
        }
    }

    fn flow_mod(&self) -> FlowMod<'static> {
        FlowMod {
            cookie: self.number("cookie"),
            cookie_mask: self.number("cookie_mask"),
            table: self.number("table_id"),
            command: self.command(),
            idle_timeout: self.number("idle_timeout"),
            hard_timeout: self.number("hard_timeout"),
            priority: self.number("priority"),
            buffer: self.buffer(),
            out_port: PortNumber(self.number("out_port")),
            out_group: self.number("out_group"),
            flags: FlowFlags(self.number("flags")),
            matching: self.matching(),
            actions: self.actions(),
        }
    }

    fn list<T>(&self, key: &str, of: impl Fn(Says) -> T) -> &'static [T] {
        self.0[key].as_array().unwrap().iter().map(|one| of(Says(one))).collect::<Vec<_>>().leak()
    }

    fn message(&self) -> Message<'static> {
        match self.text("kind") {
            "hello" => Message::Hello(Hello {
                version: self.number("version"),
                bitmap: self.0["bitmap"].as_u64().map(|bitmap| bitmap as u32),
            }),
            "error" => Message::Error(ErrorMessage {
                kind: self.number("type"),
                code: self.number("code"),
                data: self.bytes("data"),
            }),
            "echo_request" => Message::EchoRequest(self.bytes("data")),
            "echo_reply" => Message::EchoReply(self.bytes("data")),
            "features_request" => Message::FeaturesRequest,
            "features_reply" => Message::FeaturesReply(Features {
                datapath: self.number("datapath_id"),
                buffers: self.number("n_buffers"),
                tables: self.number("n_tables"),
                auxiliary: self.number("auxiliary_id"),
                capabilities: self.number("capabilities"),
            }),
            "get_config_request" => Message::GetConfigRequest,
            "get_config_reply" => Message::GetConfigReply(self.config()),
            "set_config" => Message::SetConfig(self.config()),
            "packet_in" => Message::PacketIn(PacketIn {
                buffer: self.buffer(),
                total_len: self.number("total_len"),
                reason: PacketInReason(self.number("reason")),
                table: self.number("table_id"),
                cookie: self.number("cookie"),
                in_port: PortNumber(self.number("in_port")),
                data: self.bytes("data"),
            }),
            "flow_removed" => Message::FlowRemoved(self.removed()),
            "port_status" => Message::PortStatus(PortStatus {
                reason: [PortReason::Add, PortReason::Delete, PortReason::Modify]
                    [self.number::<u64>("reason") as usize],
                port: Says(&self.0["port"]).port(),
            }),
            "packet_out" => Message::PacketOut(PacketOut {
                buffer: self.buffer(),
                in_port: PortNumber(self.number("in_port")),
                actions: self.actions(),
                data: self.bytes("data"),
            }),
            "flow_mod" => Message::FlowMod(self.flow_mod()),
            "ports_request" => Message::MultipartRequest(MultipartRequest::Ports),
            "description_request" => Message::MultipartRequest(MultipartRequest::Description),
            "flows_request" => Message::MultipartRequest(MultipartRequest::Flows(self.asked())),
            "counts_request" => Message::MultipartRequest(MultipartRequest::Counts(self.asked())),
            "ports_reply" => Message::MultipartReply(MultipartReply::Ports {
                ports: List::new(self.list("ports", |port| port.port())),
                more: self.number::<u8>("more") == 1,
            }),
            "flows_reply" => Message::MultipartReply(MultipartReply::Flows {
                flows: List::new(self.list("flows", |flow| flow.flow())),
                more: self.number::<u8>("more") == 1,
            }),
            "counts_reply" => Message::MultipartReply(MultipartReply::Counts(FlowCounts {
                packets: self.number("packet_count"),
                bytes: self.number("byte_count"),
                flows: self.number("flow_count"),
            })),
            "description_reply" => Message::MultipartReply(MultipartReply::Description(SwitchDescription {
                manufacturer: self.text("manufacturer").as_bytes(),
                hardware: self.text("hardware").as_bytes(),
                software: self.text("software").as_bytes(),
                serial: self.text("serial").as_bytes(),
                datapath: self.text("datapath").as_bytes(),
            })),
            "barrier_request" => Message::BarrierRequest,
            "barrier_reply" => Message::BarrierReply,
            "role_request" => Message::RoleRequest(self.role()),
            "role_reply" => Message::RoleReply(self.role()),
            other => panic!("unknown message {other}"),
        }
    }
}

fn mac(of: &Value) -> Mac {
    Mac(unhex(&of.as_str().unwrap().replace(':', "")).try_into().unwrap())
}

fn port_number(of: &Value) -> PortNumber {
    PortNumber(of.as_u64().unwrap().try_into().unwrap())
}

#[test]
fn messages_are_read_and_written_as_another_implementation_does() {
    let file: Value = serde_json::from_str(include_str!("../../../openflow_vectors.json")).unwrap();
    let vectors = file.as_array().unwrap();
    assert!(vectors.len() > 90);
    for vector in vectors {
        let says = Says(vector);
        let (name, bytes, xid) = (says.text("name"), says.bytes("message"), says.number("xid"));
        let message = says.message();
        assert_eq!(Message::parse(bytes), Ok((xid, message)), "{name}");
        let mut out = vec![0xa5; bytes.len() + 64];
        let len = message.write(xid, &mut out).unwrap();
        assert_eq!(len, message.encoded_len(), "{name}");
        assert!(out[len..].iter().all(|byte| *byte == 0xa5), "{name}");
        if vector["as_sent"].as_bool().unwrap_or(true) {
            assert_eq!(&out[..len], bytes, "{name}");
        }
    }
}
