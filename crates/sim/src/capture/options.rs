//! The TCP options of a simulated segment, as a host with its parameters would write them.

use weft_transport::mptcp::{Capable, Dss, Join, Options};
use weft_transport::{Config, Flags, IP_HEADER, LossRecovery, Segment, TCP_HEADER};
use weft_wire::mptcp::{
    self, CapableFlags, DataSequence, FirstData, Join as WireJoin, Key, Keys, Mapping, Token, Version,
};
use weft_wire::{SackBlocks, TcpOption, checksum};

/// The option without effect.
const NO_OPERATION: u8 = 1;

/// The shift of the windows of hosts with `cfg`: the smallest that their buffers need, as in Linux.
pub fn window_scale(cfg: &Config) -> u8 {
    let multipath = weft_transport::mptcp::Config::new(cfg);
    let largest = |cfg: &Config| cfg.receive_buffer.0.max(cfg.initial_receive_window.0);
    let window = largest(cfg).max(multipath.map_or(0, |multipath| largest(multipath.subflow())));
    (0..14).find(|shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(14)
}

/// The bytes of all options of `segment`, whose subflow's initial sequence number is `start`.
pub fn options(cfg: &Config, segment: &Segment, multipath: &Options, start: u32) -> Vec<u8> {
    let mut sacks = [[0; 8]; 4];
    for (block, (left, right)) in sacks.iter_mut().zip(segment.sacks()) {
        block[..4].copy_from_slice(&left.to_be_bytes());
        block[4..].copy_from_slice(&right.to_be_bytes());
    }
    let sacks = &sacks[..segment.sacks().len()];
    let is_syn = segment.flags.has(Flags::SYN);
    let timestamps = segment
        .flags
        .has(Flags::TS)
        .then_some(TcpOption::Timestamps { value: segment.ts_val, echo: segment.ts_ecr });
    let permitted = cfg.sack.then_some(TcpOption::SackPermitted);
    let scale = TcpOption::WindowScale(window_scale(cfg));
    let mut list: Vec<TcpOption<'_>> = Vec::new();
    if is_syn && cfg.loss_recovery == LossRecovery::Standard {
        // RFC 6691: the room for data in a packet without options.
        let room = cfg.full_packet() - IP_HEADER - TCP_HEADER;
        list.push(TcpOption::MaximumSegmentSize(u16::try_from(room).unwrap_or(u16::MAX)));
        list.extend(permitted.into_iter().chain(timestamps).chain([scale]));
    } else if is_syn {
        list.extend(timestamps.into_iter().chain([scale]).chain(permitted));
    } else {
        list.extend(timestamps);
        if !sacks.is_empty() {
            list.push(TcpOption::Sack(SackBlocks::new(sacks)));
        }
    }
    list.extend(option(cfg, segment, multipath, start).map(TcpOption::Mptcp));
    let mut spare = usize::from(segment.options).saturating_sub(list.iter().map(TcpOption::len).sum());
    let mut bytes = Vec::with_capacity(TcpOption::MAX_LEN);
    for option in list {
        let mut out = [0; TcpOption::MAX_LEN];
        if TcpOption::write_all(&[option], &mut out).is_ok() {
            // Linux aligns the end of each option to a word; in a SYN, SACK-permitted and timestamps share theirs.
            let shares = is_syn && matches!(option, TcpOption::SackPermitted | TcpOption::Timestamps { .. });
            let fill = if shares { 0 } else { spare.min(option.len().next_multiple_of(4) - option.len()) };
            spare -= fill;
            bytes.resize(bytes.len() + fill, NO_OPERATION);
            bytes.extend(&out[..option.len()]);
        }
    }
    bytes.truncate(TcpOption::MAX_LEN);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The Multipath TCP option of `segment`.
fn option(cfg: &Config, segment: &Segment, options: &Options, start: u32) -> Option<mptcp::Option<'static>> {
    let version = if cfg.mptcp_version == 0 { Version::V0 } else { Version::V1 };
    Some(match *options {
        Options::None => return None,
        Options::Capable(capable) => mptcp::Option::Capable(capability(segment, capable)),
        Options::Join(Join::Syn { token, nonce, address }) => mptcp::Option::Join(WireJoin::Syn {
            backup: false,
            address_id: address,
            token: Token(token),
            nonce,
        }),
        Options::Join(Join::SynAck { hmac, nonce, address }) => mptcp::Option::Join(WireJoin::SynAck {
            backup: false,
            address_id: address,
            hmac: hmac.to_be_bytes(),
            nonce,
        }),
        Options::Join(Join::Ack { hmac }) => mptcp::Option::Join(WireJoin::Ack { hmac }),
        Options::Dss(dss) => mptcp::Option::Dss(signal(version, segment, dss, start)),
    })
}

fn capability(segment: &Segment, capable: Capable) -> mptcp::Capable {
    let version = if capable.version == 0 { Version::V0 } else { Version::V1 };
    // Version 0 is that of multipath-tcp.org's hosts, which use checksums.
    let checksums = if version == Version::V0 { CapableFlags::CHECKSUM.0 } else { 0 };
    let keys = match (capable.sender_key, capable.receiver_key) {
        (None, _) => Keys::None,
        (Some(sender), None) => Keys::Sender(Key(sender)),
        (Some(sender), Some(receiver)) => Keys::Both {
            sender: Key(sender),
            receiver: Key(receiver),
            data: (segment.len > 0 && version == Version::V1)
                .then_some(FirstData { length: segment.len, checksum: None }),
        },
    };
    mptcp::Capable { version, flags: CapableFlags(CapableFlags::HMAC.0 | checksums), keys }
}

fn signal(version: Version, segment: &Segment, dss: Dss, start: u32) -> mptcp::Dss {
    let number = |number: u64| match version {
        Version::V0 => DataSequence::Short(number as u32),
        Version::V1 => DataSequence::Long(number),
    };
    let mapping = dss.dsn.map(|first| {
        // A DATA_FIN counts as a byte; without data it belongs to no byte of the subflow.
        let length = segment.len + u16::from(dss.data_fin);
        let subflow_sequence = if segment.len > 0 { segment.seq.wrapping_sub(start) } else { 0 };
        let pseudo =
            [&first.to_be_bytes()[..], &subflow_sequence.to_be_bytes(), &length.to_be_bytes(), &[0; 2]];
        let checksum = (version == Version::V0).then(|| checksum(&pseudo));
        Mapping { data_sequence: number(first), subflow_sequence, length, checksum }
    });
    mptcp::Dss { data_fin: dss.data_fin, acknowledgement: Some(number(dss.data_ack)), mapping }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_wire::TcpOptions;

    #[test]
    fn options_fill_the_room_that_the_segment_has_for_them() {
        let linux = Config::profile("linux").unwrap();
        let ns3 = Config::profile("ns3-3.37").unwrap();
        let segment = |flags, options, sack_count| Segment {
            flags: flags | Flags::TS,
            options,
            sack_count,
            sacks: [(1, 2), (3, 4), (5, 6), (0, 0)],
            ..Segment::default()
        };
        for (cfg, segment, kinds) in [
            (&linux, segment(Flags::SYN, 20, 0), &[2, 4, 8, 3][..]),
            (&linux, segment(Flags::ACK, 12, 0), &[8]),
            (&linux, segment(Flags::ACK, 40, 3), &[8, 5]),
            (&ns3, segment(Flags::SYN, 16, 0), &[8, 3, 4]),
            (&ns3, segment(Flags::ACK, 20, 1), &[8, 5]),
        ] {
            let bytes = options(cfg, &segment, &Options::None, 0);
            assert_eq!(bytes.len(), usize::from(segment.options), "{kinds:?}");
            let read: Vec<u8> = TcpOptions::new(&bytes).map(|option| option.unwrap().kind()).collect();
            assert_eq!(read, kinds);
        }
    }
}
