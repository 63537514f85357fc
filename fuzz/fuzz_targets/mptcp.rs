//! Two MPTCP endpoints exchange segments; some are lost, and after each exchange one with slightly altered numbers and
//! option arrives on any subflow. No panic, no endless transmission.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use weft_transport::mptcp::{self, Addresses, Capable, Connection, Dss, Join, Options};
use weft_transport::profile::PROFILES;
use weft_transport::{Config, Flags, Mptcp, MptcpCongestion, MptcpScheduler, Segment};
use weft_units::{Duration, Time};
use weft_wire::mptcp::{Key, Version};

/// More segments than any window allows.
const TOO_MANY: u32 = 1 << 20;

#[derive(Arbitrary, Debug)]
enum Option {
    Real,
    None,
    Capable { version: u8, sender: u8, receiver: u8 },
    JoinSyn { right: bool },
    JoinSynAck { hmac: u64 },
    JoinAck { first: u8 },
    Dss { ack: i32, dsn: std::option::Option<i32>, fin: bool },
}

#[derive(Arbitrary, Debug)]
struct Step {
    /// Which side receives.
    to: bool,
    /// Which of the other side's segments are lost.
    lost: u32,
    pause_us: u16,
    /// The subflow on which the altered segment arrives; may not exist.
    subflow: u8,
    seq: i16,
    ack: i16,
    len: u16,
    window: u32,
    flags: u8,
    option: Option,
    /// A subflow to remove, if it exists.
    remove: std::option::Option<u8>,
    /// Whether the receiver's application closes.
    close: bool,
}

impl Step {
    /// An altered copy of a segment.
    fn spoil(&self, real: &Segment) -> Segment {
        let moved = |number: u32, by: i16| number.wrapping_add_signed(i32::from(by));
        Segment {
            seq: moved(real.seq, self.seq),
            ack: moved(real.ack, self.ack),
            len: self.len,
            window: self.window,
            flags: Flags(real.flags.0 ^ self.flags),
            sack_count: 0,
            ..*real
        }
    }

    /// An altered option; the keys are 1 and 2.
    fn spoil_option(&self, version: Version, real: &Options) -> Options {
        let key = |key: u8| (key < 4).then_some(u64::from(key));
        match self.option {
            Option::Real => *real,
            Option::None => Options::None,
            Option::Capable { version, sender, receiver } => {
                Options::Capable(Capable { version, sender_key: key(sender), receiver_key: key(receiver) })
            }
            Option::JoinSyn { right } => {
                let token = Key(1 + u64::from(self.to)).token(version).0 ^ u32::from(!right);
                Options::Join(Join::Syn { token, nonce: 7, address: 0 })
            }
            Option::JoinSynAck { hmac } => Options::Join(Join::SynAck { hmac, nonce: 7, address: 0 }),
            Option::JoinAck { first } => Options::Join(Join::Ack { hmac: [first; 20] }),
            Option::Dss { ack, dsn, fin } => {
                let near = match real {
                    Options::Dss(dss) => *dss,
                    _ => Dss::default(),
                };
                Options::Dss(Dss {
                    data_ack: near.data_ack.wrapping_add_signed(i64::from(ack)),
                    dsn: dsn.map(|by| near.dsn.unwrap_or(near.data_ack).wrapping_add_signed(i64::from(by))),
                    data_fin: fin,
                })
            }
        }
    }
}

fuzz_target!(|input: (u8, u8, u32, Vec<Step>)| {
    let (profile, kind, isn, steps) = input;
    let (name, _) = PROFILES[usize::from(profile) % PROFILES.len()];
    let schedulers = [MptcpScheduler::LowestRtt, MptcpScheduler::RoundRobin];
    let controllers =
        [MptcpCongestion::Uncoupled, MptcpCongestion::Lia, MptcpCongestion::Olia, MptcpCongestion::Balia];
    let plain = Config {
        mptcp: Mptcp::Ndiffports,
        subflows: 3,
        mptcp_version: kind & 1,
        mptcp_scheduler: schedulers[usize::from(kind >> 1 & 1)],
        mptcp_congestion: controllers[usize::from(kind >> 2 & 3)],
        ..Config::profile(name).expect("known profile")
    };
    let cfg = mptcp::Config::new(&plain).expect("valid multipath configuration");
    let version = Version::from_number(plain.mptcp_version).expect("0 or 1");
    let mut now = Time::ZERO;
    let client = Connection::connect(&cfg, now, 1, isn, Addresses::default());
    let mut sides = [client, Connection::listen(&cfg, 2, !isn)];
    sides.iter_mut().for_each(|side| side.write(1 << 20));
    // Both ends number subflow pairs alike: only the client opens them.
    let (mut segment, mut options) = (Segment::default(), Options::None);
    for step in &steps {
        now += Duration::from_us(u64::from(step.pause_us) * 64);
        let (to, mut sent) = (usize::from(step.to), 0);
        while let Some(subflow) = sides[1 - to].poll_transmit(&cfg, now, &mut segment, &mut options) {
            if step.lost.rotate_right(sent) & 1 == 0 {
                sides[to].on_segment(&cfg, subflow, now, &segment, &options);
            }
            sent += 1;
            assert!(sent < TOO_MANY, "{name} sends forever");
        }
        while sides[0].poll_open(&cfg, now, u64::from(sent) << 32 | u64::from(isn)).is_some() {
            sides[1].accept(&cfg, 0, u64::from(!isn));
        }
        let option = step.spoil_option(version, &options);
        sides[to].on_segment(&cfg, usize::from(step.subflow % 5), now, &step.spoil(&segment), &option);
        if let Some(number) = step.remove.filter(|number| *number < 3) {
            sides[to].remove(usize::from(number));
        }
        if step.close {
            sides[to].close();
        }
        for side in &mut sides {
            if side.next_timeout() <= now {
                side.on_timeout(&cfg, now);
            }
        }
    }
});
