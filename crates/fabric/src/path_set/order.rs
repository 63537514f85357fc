//! [`Order`]: which paths come first.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use weft_units::words;

words! {
    /// Which paths of a set come first, after the shortest.
    #[derive(Hash, Default, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Order {
        /// Those that share the fewest edges with the first path (smoc, Algorithm 1).
        #[default]
        Paper = "paper",
        /// Those that share the least with all earlier paths.
        Disjoint = "disjoint",
    }
}

impl Order {
    /// All orders, for messages.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Disjoint];
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Order {
    type Err = String;

    /// Reads `paper` or `disjoint`; the error is the text itself.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|order| order.word() == text).ok_or_else(|| text.to_owned())
    }
}
