//! Hello messages: sending ours and checking received ones (docs/wire-format.md).

use std::collections::BTreeMap;

use weft_wire::{Echo, EtherType, Hello, HelloFrame, Key, Mac, Probe, ProbeFrame, Reach, SwitchId};

use super::memory::Memory;

/// The state for sending and checking Hellos.
#[derive(Debug)]
pub struct Hellos {
    /// The switch.
    pub id: u64,
    /// Its tier; 0 if unknown.
    pub tier: u8,
    /// The hold time, in milliseconds.
    pub hold_ms: u32,
    /// The keys: the first signs our Hellos, any of them may verify received ones.
    pub keys: Vec<Key>,
    /// Sequence numbers, which outlive the daemon.
    pub memory: Memory,
    /// Hellos accepted.
    pub heard: u64,
    /// Hellos sent.
    pub sent: u64,
    /// Hellos and probes refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

/// What a Hello of this switch says.
pub struct Said<'a> {
    /// The port that it leaves by.
    pub port: u16,
    /// The hold time; 0 withdraws the adjacency.
    pub hold_ms: u32,
    /// Whom the port hears.
    pub echo: Option<Echo>,
    /// What the switch reaches.
    pub reach: Option<Reach<'a>>,
    /// The running number of the port's Hellos.
    pub number: Option<u8>,
    /// Whether the port misses many Hellos of its neighbour.
    pub misses: bool,
}

/// A Hello that was accepted.
pub struct Accepted<'a> {
    /// Its content.
    pub hello: Hello,
    /// What its sender reaches, if it says so.
    pub reach: Option<Reach<'a>>,
    /// The index of the key that signed it.
    pub key: Option<usize>,
}

/// When Hellos are sent.
#[derive(Debug)]
pub struct Schedule {
    /// When the next ones are due.
    pub next: u64,
}

impl Schedule {
    /// If Hellos are due at `now`, schedules the next ones an interval later and returns true. Hellos missed while
    /// the daemon was stopped are not sent later.
    pub fn take_due(&mut self, now: u64, interval: u64) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = (self.next + interval).max(now + interval / 2);
        }
        is_due
    }
}

/// Every reason for refusing a Hello or a probe; `port`: received on a port that must not become a fabric port, `own`: sent by
/// this switch.
pub const REASONS: [&str; 9] =
    ["ethertype", "destination", "short", "version", "unsigned", "signature", "replay", "port", "own"];

impl Hellos {
    /// The Hello to send from a port with this address.
    pub fn frame(&mut self, source: Mac, said: Said<'_>, since_1970: u64) -> Vec<u8> {
        let Said { port, hold_ms, echo, reach, number, misses } = said;
        let mut frame = vec![0; Hello::MOST];
        let sequence = self.memory.next(since_1970);
        let hello = Hello {
            tier: self.tier,
            hold_ms,
            switch: SwitchId(self.id),
            port,
            sequence,
            echo,
            number,
            misses,
        };
        // No Hello is longer.
        let written =
            hello.write_with(reach.as_ref(), source, EtherType::HELLO, self.keys.first(), &mut frame);
        frame.truncate(written.unwrap_or_default());
        self.sent += 1;
        frame
    }

    /// Whether the sender of a Hello that arrived on `port` hears this switch, or does not say.
    pub fn is_heard_by(&self, hello: &Hello, port: u16) -> bool {
        hello.echo.is_none_or(|echo| echo == Echo::of(SwitchId(self.id), port))
    }

    /// A valid Hello.
    ///
    /// # Errors
    /// One of [`REASONS`], which is counted.
    pub fn read<'a>(&mut self, frame: &'a [u8], may_be_fabric: bool) -> Result<Accepted<'a>, &'static str> {
        let read = self.check(frame, may_be_fabric);
        match read {
            Ok(_) => self.heard += 1,
            Err(reason) => *self.refused.entry(reason).or_default() += 1,
        }
        read
    }

    /// The contents of a valid probe; `None` if the frame is a Hello.
    ///
    /// # Errors
    /// One of [`REASONS`], which is counted.
    pub fn read_probe(&mut self, frame: &[u8]) -> Option<Result<Probe, &'static str>> {
        let parsed = ProbeFrame::parse(frame, EtherType::HELLO).transpose()?;
        let parsed = parsed.map_err(|error| error.counter());
        let read = parsed.and_then(|frame| self.signer(|key| frame.verify(key)).map(|_| frame.probe()));
        if let Err(reason) = read {
            *self.refused.entry(reason).or_default() += 1;
        }
        Some(read)
    }

    /// The index of the key for which `verify` succeeds; `None` if there are no keys.
    fn signer(
        &self,
        verify: impl Fn(&Key) -> Result<(), weft_wire::Error>,
    ) -> Result<Option<usize>, &'static str> {
        let mut verified = Ok(());
        for (number, key) in self.keys.iter().enumerate() {
            verified = verify(key);
            if verified.is_ok() {
                return Ok(Some(number));
            }
        }
        verified.map(|()| None).map_err(|error| error.counter())
    }

    fn check<'a>(&mut self, frame: &'a [u8], may_be_fabric: bool) -> Result<Accepted<'a>, &'static str> {
        if !may_be_fabric {
            return Err("port");
        }
        let frame = HelloFrame::parse(frame, EtherType::HELLO).map_err(|error| error.counter())?;
        let hello = frame.hello();
        let key = self.signer(|key| frame.verify(key))?;
        if hello.switch.0 == self.id {
            return Err("own");
        }
        if key.is_some() && !self.memory.accept((hello.switch.0, hello.port), hello.sequence) {
            return Err("replay");
        }
        Ok(Accepted { hello, reach: frame.reach(), key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: u64 = 50;

    /// The times at which Hellos leave until 2000, if the daemon wakes up `late` after each is due.
    fn leave(late: impl Fn(u64) -> u64) -> Vec<u64> {
        let (mut schedule, mut times) = (Schedule { next: 0 }, Vec::new());
        loop {
            let now = schedule.next + late(schedule.next);
            if now >= 2000 {
                return times;
            }
            assert!(schedule.take_due(now, INTERVAL));
            assert!(!schedule.take_due(now, INTERVAL), "once");
            times.push(now);
        }
    }

    #[test]
    fn hellos_leave_once_an_interval_though_the_daemon_is_late() {
        assert!(leave(|_| 0).into_iter().eq((0..40).map(|number| number * INTERVAL)));
        for late in 1..=INTERVAL / 2 {
            assert_eq!(leave(|_| late).len(), 40, "late by {late}: it catches up");
            assert_eq!(leave(|due| due * 7 % (late + 1)).len(), 40, "late by up to {late}");
        }
    }

    #[test]
    fn hellos_that_were_missed_are_not_sent_later() {
        // Stopped from 500 to 1000.
        let times = leave(|due| if due == 500 { 500 } else { 0 });
        assert_eq!(times.iter().filter(|time| (500..1000).contains(*time)).count(), 0);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= INTERVAL / 2), "{times:?}");
        assert_eq!(times.len(), 10 + 21, "one at once");
    }
}
