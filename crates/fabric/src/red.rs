//! [`RedSpec`]: marking whose probability rises with the queue, as DCQCN configures switches (Zhu et al., SIGCOMM 2015).

use serde::{Deserialize, Serialize};
use weft_units::words;

use crate::limit::Limit;

words! {
    /// When a packet is compared with the queue.
    #[derive(Hash, Default)]
    pub enum MarkAt {
        /// When it joins the queue, by the packets before it.
        #[default]
        Enqueue = "enqueue",
        /// When it leaves the queue, by the packets in it then, itself included.
        Dequeue = "dequeue",
    }
}

/// Marks packets with a probability that rises linearly from 0 at `kmin` to `pmax` at `kmax`, and is 1 above.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedSpec {
    /// Up to here no packet is marked.
    pub kmin: Limit,
    /// Beyond it, every packet is marked; in the unit of `kmin`.
    pub kmax: Limit,
    /// The probability at `kmax`, in parts per billion.
    #[serde(with = "share")]
    pub pmax: u32,
    /// When packets are marked.
    #[serde(default)]
    pub at: MarkAt,
}

/// The probability 1 as a value of [`RedSpec::pmax`].
pub const CERTAIN: u32 = 1_000_000_000;

impl RedSpec {
    /// The two thresholds, in bytes or in packets.
    pub const fn thresholds(&self) -> [u64; 2] {
        [self.kmin.count(), self.kmax.count()]
    }

    /// The problem with these values, if any.
    pub fn fault(&self) -> Option<String> {
        let [kmin, kmax] = self.thresholds();
        match (self.kmin, self.kmax) {
            (Limit::Unlimited, _) | (_, Limit::Unlimited) => {
                Some(format!("`{}` is not a threshold", Limit::UNLIMITED))
            }
            (Limit::Packets(_), Limit::Bytes(_)) | (Limit::Bytes(_), Limit::Packets(_)) => {
                Some(format!("`kmin` ({}) and `kmax` ({}) are not of one unit", self.kmin, self.kmax))
            }
            _ if kmin > kmax => Some(format!("`kmin` ({}) is above `kmax` ({})", self.kmin, self.kmax)),
            _ if self.pmax == 0 || self.pmax > CERTAIN => {
                Some(format!("`pmax` is {}: expected a probability from 1e-9 to 1", share::of(self.pmax)))
            }
            _ => None,
        }
    }
}

/// Parts per billion, written as a fraction.
mod share {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::CERTAIN;

    pub fn of(parts: u32) -> f64 {
        f64::from(parts) / f64::from(CERTAIN)
    }

    pub fn serialize<S: Serializer>(parts: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(of(*parts))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let share = f64::deserialize(deserializer)?;
        super::parts_of(share)
            .ok_or_else(|| de::Error::custom(format!("{share:?} is not a probability from 1e-9 to 1")))
    }
}

/// A probability from 1e-9 to 1, in parts per billion.
pub fn parts_of(share: f64) -> Option<u32> {
    let parts = (share * f64::from(CERTAIN)).round();
    (share <= 1.0 && parts >= 1.0).then_some(parts as u32)
}
