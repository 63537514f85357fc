//! The class a flow is reported in: by its size, or by the name from its group or list.

use weft_units::Bytes;

/// The sizes that separate mice, rabbits and elephants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// A flow below this is a mouse.
    pub mouse: Bytes,
    /// A flow above this is an elephant; flows in between are rabbits.
    pub elephant: Bytes,
}

impl Thresholds {
    /// The class of a flow of `bytes`.
    pub fn class(&self, bytes: u64) -> &'static str {
        match bytes {
            _ if bytes < self.mouse.0 => "mouse",
            _ if bytes > self.elephant.0 => "elephant",
            _ => "rabbit",
        }
    }
}

/// The names of classes in order of appearance, the three size classes first.
#[derive(Default, Debug)]
pub(crate) struct Names {
    names: Vec<String>,
}

impl Names {
    /// The index of `name`, added if it is new; `None` beyond 65 536 names.
    pub(crate) fn index(&mut self, name: &str) -> Option<u16> {
        let at = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// Adds the three size classes, in order.
    pub(crate) fn add_sizes(&mut self) {
        for name in ["mouse", "rabbit", "elephant"] {
            self.index(name);
        }
    }

    pub(crate) fn into_inner(self) -> Vec<String> {
        self.names
    }
}
