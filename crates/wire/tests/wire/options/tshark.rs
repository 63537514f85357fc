//! Compares every option of `captures.json` with tshark, and the tokens and initial data sequence numbers
//! that it computes: a third implementation, which supports both versions.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use weft_wire::mptcp::{AddAddr, Announcement, Capable, DataSequence, Dss, Join, Keys, Option as Mptcp};
use weft_wire::{TcpFrame, TcpOption};

use crate::json::unhex;
use crate::options::notation::hex;
use crate::pcap::write_pcap;

/// The tshark fields that are compared. It does not show DSS checksums.
const FIELDS: [&str; 32] = [
    "tcp.options.mss_val",
    "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.version",
    "tcp.options.mptcp.flags",
    "tcp.options.mptcp.backup.flag",
    "tcp.options.mptcp.datafin.flag",
    "tcp.options.mptcp.flag_T.flag",
    "tcp.options.mptcp.rst_reason",
    "tcp.options.mptcp.addrid",
    "tcp.options.mptcp.sendkey",
    "tcp.options.mptcp.recvkey",
    "tcp.options.mptcp.recvtok",
    "tcp.options.mptcp.sendrand",
    "tcp.options.mptcp.sendtrunchmac",
    "tcp.options.mptcp.sendhmac",
    "tcp.options.mptcp.addaddrtrunchmac",
    "tcp.options.mptcp.rawdataack",
    "tcp.options.mptcp.rawdataseqno",
    "tcp.options.mptcp.subflowseqno",
    "tcp.options.mptcp.datalvllen",
    "tcp.options.mptcp.checksum",
    "tcp.options.mptcp.ipver",
    "tcp.options.mptcp.echo",
    "tcp.options.mptcp.ipv4",
    "tcp.options.mptcp.ipv6",
    "tcp.options.mptcp.port",
    "mptcp.rm_addr.count",
    "mptcp.expected_token",
    "mptcp.expected_idsn",
];

/// The values of each field in a frame.
#[derive(Default, PartialEq, Debug)]
struct Decoded(BTreeMap<String, Vec<String>>);

impl Decoded {
    /// Adds a field of Multipath TCP.
    fn mptcp(&mut self, field: &str, value: impl ToString) {
        self.add(&format!("tcp.options.mptcp.{field}"), value);
    }

    fn add(&mut self, field: &str, value: impl ToString) {
        assert!(FIELDS.contains(&field), "{field}");
        self.0.entry(field.into()).or_default().push(value.to_string());
    }

    fn option(&mut self, option: &TcpOption) {
        match option {
            TcpOption::MaximumSegmentSize(bytes) => self.add("tcp.options.mss_val", bytes),
            TcpOption::WindowScale(shift) => self.add("tcp.options.wscale.shift", shift),
            TcpOption::Timestamps { value, echo } => {
                self.add("tcp.options.timestamp.tsval", value);
                self.add("tcp.options.timestamp.tsecr", echo);
            }
            TcpOption::SackPermitted | TcpOption::Sack(_) | TcpOption::Unknown { .. } => {}
            TcpOption::Mptcp(option) => {
                self.mptcp("subtype", option.subtype());
                self.multipath(option);
            }
        }
    }

    fn multipath(&mut self, option: &Mptcp) {
        match option {
            Mptcp::Capable(capable) => self.capable(capable),
            Mptcp::Join(join) => self.join(join),
            Mptcp::Dss(dss) => self.dss(dss),
            Mptcp::AddAddr(add) => self.add_addr(add),
            Mptcp::RemoveAddr(remove) => {
                remove.address_ids.iter().for_each(|id| self.mptcp("addrid", id));
                self.add("mptcp.rm_addr.count", remove.address_ids.len());
            }
            Mptcp::Priority(priority) => {
                self.mptcp("flags", format!("{:#04x}", 0x50 | u8::from(priority.backup)));
                self.mptcp("backup.flag", u8::from(priority.backup));
                priority.address_id.iter().for_each(|id| self.mptcp("addrid", id));
            }
            Mptcp::Fail(fail) => self.mptcp("rawdataseqno", fail.data_sequence),
            Mptcp::FastClose(close) => self.mptcp("recvkey", close.receiver_key.0),
            Mptcp::Reset(reset) => {
                self.mptcp("flags", format!("{:#04x}", 0x80 | u8::from(reset.transient)));
                self.mptcp("flag_T.flag", u8::from(reset.transient));
                self.mptcp("rst_reason", format!("{:#04x}", reset.reason));
            }
            Mptcp::Unknown { .. } => {}
        }
    }

    fn capable(&mut self, capable: &Capable) {
        self.mptcp("version", capable.version as u8);
        self.mptcp("flags", format!("{:#04x}", capable.flags.0));
        if let Some(key) = capable.sender_key() {
            self.mptcp("sendkey", key.0);
            self.add("mptcp.expected_token", key.token(capable.version).0);
            self.add("mptcp.expected_idsn", key.initial_data_sequence(capable.version));
        }
        capable.receiver_key().iter().for_each(|key| self.mptcp("recvkey", key.0));
        if let Keys::Both { data: Some(data), .. } = capable.keys {
            self.mptcp("datalvllen", data.length);
            data.checksum.iter().for_each(|checksum| self.mptcp("checksum", format!("{checksum:#06x}")));
        }
    }

    fn join(&mut self, join: &Join) {
        let mut start = |backup, address_id| {
            self.mptcp("flags", format!("{:#04x}", 0x10 | u8::from(backup)));
            self.mptcp("backup.flag", u8::from(backup));
            self.mptcp("addrid", address_id);
        };
        match *join {
            Join::Syn { backup, address_id, token, nonce } => {
                start(backup, address_id);
                self.mptcp("recvtok", token.0);
                self.mptcp("sendrand", nonce);
            }
            Join::SynAck { backup, address_id, hmac, nonce } => {
                start(backup, address_id);
                self.mptcp("sendtrunchmac", u64::from_be_bytes(hmac));
                self.mptcp("sendrand", nonce);
            }
            Join::Ack { hmac } => self.mptcp("sendhmac", hex(&hmac)),
        }
    }

    fn dss(&mut self, dss: &Dss) {
        let number = |sequence| match sequence {
            DataSequence::Short(number) => u64::from(number),
            DataSequence::Long(number) => number,
        };
        let long = |sequence| matches!(sequence, DataSequence::Long(_));
        let flags = u8::from(dss.data_fin) << 4
            | dss.mapping.map_or(0, |mapping| 4 | u8::from(long(mapping.data_sequence)) << 3)
            | dss.acknowledgement.map_or(0, |place| 1 | u8::from(long(place)) << 1);
        self.mptcp("flags", format!("{flags:#04x}"));
        self.mptcp("datafin.flag", u8::from(dss.data_fin));
        dss.acknowledgement.iter().for_each(|place| self.mptcp("rawdataack", number(*place)));
        if let Some(mapping) = dss.mapping {
            self.mptcp("rawdataseqno", number(mapping.data_sequence));
            self.mptcp("subflowseqno", mapping.subflow_sequence);
            self.mptcp("datalvllen", mapping.length);
        }
    }

    fn add_addr(&mut self, add: &AddAddr) {
        let is_v4 = add.address.is_ipv4();
        match add.announcement {
            Announcement::Unsigned => self.mptcp("ipver", if is_v4 { 4 } else { 6 }),
            Announcement::Signed(hmac) => {
                self.mptcp("echo", 0);
                self.mptcp("addaddrtrunchmac", u64::from_be_bytes(hmac));
            }
            Announcement::Echo => self.mptcp("echo", 1),
        }
        self.mptcp("addrid", add.address_id);
        self.mptcp(if is_v4 { "ipv4" } else { "ipv6" }, add.address);
        add.port.iter().for_each(|port| self.mptcp("port", port));
    }
}

/// The frame of the capture with this number, with unique addresses: tshark takes equal ones for one
/// connection.
fn apart(mut frame: Vec<u8>, capture: usize) -> Vec<u8> {
    if frame[12..14] == [0x08, 0x00] {
        (frame[27], frame[31]) = (capture as u8, capture as u8);
    }
    frame
}

#[test]
#[ignore = "needs tshark"]
fn tshark_decodes_the_same() {
    let file: Value = serde_json::from_str(include_str!("../../../captures.json")).unwrap();
    let (mut frames, mut names) = (Vec::new(), Vec::new());
    let captures = file["captures"].as_array().unwrap().iter();
    // tshark takes all frames with the same token for one connection, so reordered frames and colliding
    // tokens are left out.
    let captures = captures.filter(|capture| {
        let reordered = capture["made"].as_str().unwrap().starts_with("reordered");
        !reordered && capture["name"] != "tokens that collide"
    });
    for (number, capture) in captures.enumerate() {
        for (at, frame) in capture["frames"].as_array().unwrap().iter().enumerate() {
            if frame["handshake"] != "malformed" {
                frames.push(apart(unhex(frame["frame"].as_str().unwrap()), number));
                names.push(format!("{}, frame {at}", capture["name"]));
            }
        }
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("captures.pcap");
    write_pcap(&path, &frames);

    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-T", "fields", "-E", "separator=/t", "-r"]).arg(&path);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), frames.len());
    let mut compared = 0;
    for ((line, frame), name) in lines.lines().zip(&frames).zip(&names) {
        let mut theirs = Decoded::default();
        for (field, values) in FIELDS.iter().zip(line.split('\t')).filter(|(_, values)| !values.is_empty()) {
            values.split(',').for_each(|value| theirs.add(field, value));
        }
        let mut ours = Decoded::default();
        TcpFrame::parse(frame).unwrap().tcp().options().for_each(|option| ours.option(&option.unwrap()));
        assert_eq!(ours, theirs, "{name}");
        compared += theirs.0.len();
    }
    assert!(compared > 2000, "{compared} fields");
}
