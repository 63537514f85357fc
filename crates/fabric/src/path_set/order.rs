//! [`Order`]: which paths come first.

use weft_units::words;

words! {
    /// Which paths of a set come first, after the shortest.
    #[derive(Hash)]
    pub enum Order {
        /// Those that share the fewest edges with the first path (smoc, Algorithm 1).
        Paper = "paper",
        /// Those that share the least with all earlier paths.
        Disjoint = "disjoint",
    }
}

impl Order {
    /// All orders, for messages.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Disjoint];
}
