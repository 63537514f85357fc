//! Measures of a fabric: counts, path diversity, capacity, bisection.

mod bisection;
mod capacity;
mod counts;
mod cut;
mod diversity;
mod max_flow;

pub use bisection::{Bisection, BisectionMethod, bisection};
pub use capacity::{host_capacity, oversubscription, uplink_capacity, uplinks};
pub use counts::{Counts, TierCount, TierLinks, counts};
pub use cut::narrowest_cut;
pub use diversity::{
    Diversity, DiversityRow, diameter, disjoint_path_count, diversity, equal_cost_path_count,
};
