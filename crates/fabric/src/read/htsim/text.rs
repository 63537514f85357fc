//! [`Text`]: the numbers of a file, each with its place, and the checks of single numbers.

use weft_units::{Duration, Rate};

use super::tier::Tier;
use crate::nearest;
use crate::nearest::misspelt;
use crate::read::notes::Notes;
use crate::read::{ErrorKind, ReadError};

/// A number with the byte at which its line starts.
#[derive(Clone, Copy, Default)]
pub(super) struct Given {
    pub(super) value: Option<u64>,
    pub(super) byte: usize,
}

/// The keys of the head.
const HEAD: [&str; 3] = ["Nodes", "Tiers", "Podsize"];
/// The keys of a tier.
const TIER: [&str; 9] = [
    "Downlink_speed_Gbps",
    "Radix_Down",
    "Radix_Up",
    "Downlink_Latency_ns",
    "Switch_Latency_ns",
    "Queue_Up",
    "Queue_Down",
    "Bundle",
    "Oversubscribed",
];

/// The numbers of a file.
pub(super) struct Text<'a> {
    text: &'a str,
    pub(super) head: [Given; HEAD.len()],
    pub(super) tiers: [[Given; TIER.len()]; 3],
    /// The byte of each `Tier` line.
    starts: [Option<usize>; 3],
    pub(super) notes: Notes,
}

/// The largest latency and size that a file can give.
const MOST: u64 = 1 << 40;

impl<'a> Text<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, ReadError> {
        let mut read = Self {
            text,
            head: Default::default(),
            tiers: Default::default(),
            starts: [None; 3],
            notes: Notes::default(),
        };
        let mut tier = None;
        let mut byte = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_whitespace();
            if let Some(key) = words.next() {
                tier = if tier.is_none() && read.note_ignored(key, number) {
                    tier
                } else {
                    let why =
                        || ErrorKind::Syntax(format!("expected `{key}` and a whole number up to {MOST}"));
                    let value = words.next().and_then(|word| word.parse::<u64>().ok());
                    let value = value.filter(|value| *value <= MOST);
                    let value = value.ok_or_else(|| read.error(why(), byte))?;
                    if words.next().is_some() {
                        let what = "words after the number have no effect";
                        read.notes.add_line("number", number, || what.to_owned());
                    }
                    read.line(key, value, tier, byte)?
                };
            }
            byte += line.len();
        }
        Ok(read)
    }

    /// Adds a note if a line before the first `Tier` has no effect; returns whether it has none.
    fn note_ignored(&mut self, key: &str, line: usize) -> bool {
        let known = || HEAD.iter().copied().chain(["Tier"]);
        if known().any(|known| known.eq_ignore_ascii_case(key)) || misspelt(key, known()).is_some() {
            return false;
        }
        self.notes.add_line("key", line, || format!("`{key}` has no effect before the first `Tier`"));
        true
    }

    /// Takes the line `key number`, in the section of `tier` if there was one; returns the section that follows.
    fn line(
        &mut self,
        key: &str,
        number: u64,
        tier: Option<usize>,
        byte: usize,
    ) -> Result<Option<usize>, ReadError> {
        if key.eq_ignore_ascii_case("tier") {
            let started = usize::try_from(number).ok().filter(|tier| *tier < 3);
            let why = || ErrorKind::Syntax(format!("there is no tier {number}; expected 0, 1 or 2"));
            let started = started.ok_or_else(|| self.error(why(), byte))?;
            self.starts[started].get_or_insert(byte);
            return Ok(Some(started));
        }
        let place = |keys: &[&str]| keys.iter().position(|known| known.eq_ignore_ascii_case(key));
        let known = match tier {
            None => place(&HEAD).map(|at| &mut self.head[at]),
            Some(tier) => place(&TIER).map(|at| &mut self.tiers[tier][at]),
        };
        let Some(given) = known else {
            let names: &[&str] = if tier.is_none() { &HEAD } else { &TIER };
            let hint = match nearest::nearest(key, names.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("expected one of {}", names.join(", ")),
            };
            return Err(self.error(ErrorKind::Syntax(format!("unknown key `{key}`: {hint}")), byte));
        };
        if given.value.is_some() {
            return Err(self.error(ErrorKind::Syntax(format!("`{key}` is given twice")), byte));
        }
        *given = Given { value: Some(number), byte };
        Ok(tier)
    }

    pub(super) fn error(&self, why: ErrorKind, byte: usize) -> ReadError {
        ReadError::from(why).at(self.text, byte)
    }

    /// A number of the head that is needed.
    pub(super) fn counted(&self, at: usize) -> Result<u64, ReadError> {
        let given = self.head[at];
        match given.value {
            Some(number @ 1..) => Ok(number),
            Some(_) => Err(self
                .error(ErrorKind::Syntax(format!("`{}` is 0; expected at least 1", HEAD[at])), given.byte)),
            None => Err(ErrorKind::Missing(HEAD[at]).into()),
        }
    }

    /// Tier `number` of `count`.
    pub(super) fn tier(&self, number: usize, count: usize) -> Result<Tier, ReadError> {
        let missing = |name: &'static str| match self.starts[number] {
            Some(byte) => self.error(ErrorKind::Missing(name), byte).of(format!("tier {number}")),
            None => {
                ErrorKind::Syntax(format!("there is no section `Tier {number}`, but there are {count} tiers"))
                    .into()
            }
        };
        let given = |at: usize| self.tiers[number][at];
        let needed = |at: usize| match given(at).value {
            Some(0) => Err(self.error(
                ErrorKind::Syntax(format!("`{}` is 0; expected at least 1", TIER[at])),
                given(at).byte,
            )),
            Some(value) => Ok(value),
            None => Err(missing(TIER[at])),
        };
        let is_top = number + 1 == count;
        if number == 2
            && let Some(at) = [2, 5].into_iter().find(|at| given(*at).value.is_some())
        {
            let why = format!("the top tier has no uplinks; remove `{}`", TIER[at]);
            return Err(self.error(ErrorKind::Syntax(why), given(at).byte));
        }
        Ok(Tier {
            rate: Rate::from_bps(needed(0)?.saturating_mul(1_000_000_000)),
            down: needed(1)?,
            up: if is_top { 0 } else { needed(2)? },
            latency: Duration::from_ps(needed(3)? * 1_000),
            switch_latency: Duration::from_ps(given(4).value.unwrap_or(0) * 1_000),
            queue_up: given(5).value,
            queue_down: given(6).value,
            bundle: if given(7).value.is_some() { needed(7)? } else { 1 },
        })
    }

    /// Notes the words of a file with two tiers about a third.
    pub(super) fn note_above_two(&mut self) {
        if self.starts[2].is_some() {
            self.notes.add("`Tier 2` has no effect: `Tiers` is 2");
        }
        for at in [2, 5].into_iter().filter(|at| self.tiers[1][*at].value.is_some()) {
            self.notes.add(format!("`{}` of tier 1 has no effect: the top tier has no uplinks", TIER[at]));
        }
    }

    /// Refuses a number of a tier that contradicts the others.
    pub(super) fn expect(
        &self,
        tier: usize,
        key: usize,
        expected: u64,
        reason: &str,
    ) -> Result<(), ReadError> {
        let given = self.tiers[tier][key];
        match given.value {
            Some(value) if value != expected => {
                let why = format!("`{}` is {value}; expected {expected}: {reason}", TIER[key]);
                Err(self.error(ErrorKind::Syntax(why), given.byte).of(format!("tier {tier}")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a number that `divisor` does not divide.
    pub(super) fn divide(
        &self,
        number: u64,
        name: &str,
        divisor: u64,
        its_name: &str,
        byte: usize,
    ) -> Result<u64, ReadError> {
        if number.is_multiple_of(divisor) {
            return Ok(number / divisor);
        }
        let why = format!("`{name}` is {number}, which is not a multiple of `{its_name}`, {divisor}");
        Err(self.error(ErrorKind::Syntax(why), byte))
    }

    /// Refuses an oversubscription that contradicts radices and rates.
    pub(super) fn check_oversubscription(
        &self,
        number: usize,
        tier: &Tier,
        above: &Tier,
    ) -> Result<(), ReadError> {
        let given = self.tiers[number][8];
        let Some(ratio) = given.value else { return Ok(()) };
        let capacity = |ports: u64, rate: Rate| u128::from(ports) * u128::from(rate.bps());
        let (down, up) = (capacity(tier.down, tier.rate), capacity(tier.up, above.rate));
        if u128::from(ratio) * up == down {
            return Ok(());
        }
        let why = format!(
            "`Oversubscribed` is {ratio}, but radices and speeds give {:.4}",
            down as f64 / up as f64
        );
        Err(self.error(ErrorKind::Syntax(why), given.byte).of(format!("tier {number}")))
    }
}
