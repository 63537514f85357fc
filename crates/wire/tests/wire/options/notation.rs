//! Parsed TCP options in the JSON format of `tcp_options.py`, for comparison.

use serde_json::{Value, json};
use weft_wire::mptcp::{
    AddAddr, Announcement, Capable, DataSequence, Dss, FirstData, Join, Key, Keys, Option as Mptcp,
};
use weft_wire::{Error, MalformedOption, TcpOption};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hexadecimal number.
pub fn number(digits: &Value) -> u64 {
    u64::from_str_radix(digits.as_str().unwrap_or_else(|| panic!("{digits} is not a number")), 16).unwrap()
}

fn key(key: Key) -> Value {
    json!(format!("{:016x}", key.0))
}

pub fn option(option: &TcpOption) -> Value {
    match option {
        TcpOption::MaximumSegmentSize(bytes) => json!({"option": "maximum_segment_size", "bytes": bytes}),
        TcpOption::WindowScale(shift) => json!({"option": "window_scale", "shift": shift}),
        TcpOption::SackPermitted => json!({"option": "sack_permitted"}),
        TcpOption::Sack(blocks) => json!({"option": "sack", "blocks": blocks.iter().collect::<Vec<_>>()}),
        TcpOption::Timestamps { value, echo } => {
            json!({"option": "timestamps", "value": value, "echo": echo})
        }
        TcpOption::Unknown { kind, data } => json!({"option": "unknown", "kind": kind, "data": hex(data)}),
        TcpOption::Mptcp(option) => mptcp(option),
    }
}

fn mptcp(option: &Mptcp) -> Value {
    match option {
        Mptcp::Capable(option) => capable(option),
        Mptcp::Join(option) => join(option),
        Mptcp::Dss(option) => dss(option),
        Mptcp::AddAddr(option) => add_addr(option),
        Mptcp::RemoveAddr(option) => json!({"option": "remove_addr", "address_ids": option.address_ids}),
        Mptcp::Priority(option) => {
            json!({"option": "mp_prio", "backup": option.backup, "address_id": option.address_id})
        }
        Mptcp::Fail(option) => json!({"option": "mp_fail", "data_sequence": option.data_sequence}),
        Mptcp::FastClose(option) => {
            json!({"option": "mp_fastclose", "receiver_key": key(option.receiver_key)})
        }
        Mptcp::Reset(option) => {
            json!({"option": "mp_tcprst", "transient": option.transient, "reason": option.reason})
        }
        Mptcp::Unknown { subtype, data } => {
            json!({"option": "unknown_mptcp", "subtype": subtype, "data": hex(data)})
        }
    }
}

fn capable(option: &Capable) -> Value {
    let data = match option.keys {
        Keys::Both { data, .. } => data,
        Keys::None | Keys::Sender(_) => None,
    };
    json!({
        "option": "mp_capable",
        "version": option.version as u8,
        "flags": option.flags.0,
        "sender_key": option.sender_key().map(key),
        "receiver_key": option.receiver_key().map(key),
        "data_length": data.map(|data: FirstData| data.length),
        "checksum": data.and_then(|data| data.checksum),
    })
}

fn join(option: &Join) -> Value {
    match option {
        Join::Syn { backup, address_id, token, nonce } => json!({
            "option": "mp_join", "segment": "syn", "backup": backup, "address_id": address_id,
            "token": token.to_string(), "nonce": format!("{nonce:08x}"),
        }),
        Join::SynAck { backup, address_id, hmac, nonce } => json!({
            "option": "mp_join", "segment": "syn_ack", "backup": backup, "address_id": address_id,
            "hmac": hex(hmac), "nonce": format!("{nonce:08x}"),
        }),
        Join::Ack { hmac } => json!({"option": "mp_join", "segment": "ack", "hmac": hex(hmac)}),
    }
}

fn dss(option: &Dss) -> Value {
    let number = |sequence| match sequence {
        DataSequence::Short(number) => (u64::from(number), false),
        DataSequence::Long(number) => (number, true),
    };
    let acknowledgement = option.acknowledgement.map(number);
    let mapping = option.mapping.map(|mapping| {
        let (data_sequence, is_long) = number(mapping.data_sequence);
        json!({
            "is_long": is_long, "data_sequence": data_sequence,
            "subflow_sequence": mapping.subflow_sequence, "length": mapping.length, "checksum": mapping.checksum,
        })
    });
    json!({
        "option": "dss", "data_fin": option.data_fin, "ack": acknowledgement.map(|(number, _)| number),
        "ack_is_long": acknowledgement.is_some_and(|(_, is_long)| is_long), "mapping": mapping,
    })
}

fn add_addr(option: &AddAddr) -> Value {
    let (version, echo, hmac) = match option.announcement {
        Announcement::Unsigned => (0, false, None),
        Announcement::Signed(hmac) => (1, false, Some(hex(&hmac))),
        Announcement::Echo => (1, true, None),
    };
    json!({
        "option": "add_addr", "version": version, "echo": echo, "address_id": option.address_id,
        "address": option.address.to_string(), "port": option.port, "hmac": hmac,
    })
}

pub fn malformed(malformed: &MalformedOption) -> Value {
    let values = match malformed.error {
        Error::Short { need, have } => vec![need, have],
        Error::HeaderLength { least, given } => vec![least, given],
        Error::OptionLength { given, .. } => vec![given],
        Error::Version(number) => vec![number.into()],
        other => panic!("{other}: not an error of an option"),
    };
    let error = json!({"counter": malformed.error.counter(), "values": values});
    json!({"kind": malformed.kind, "at": malformed.at, "error": error})
}
