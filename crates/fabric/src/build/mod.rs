//! Builders: fabrics of a regular shape, one file each.
//!
//! All number hosts `h0..` first, then switches from the lowest tier up, and connect host cables first, in
//! order of hosts, so port numbers agree in every tool that follows this order.

mod dumbbell;
mod fat_tree;
mod mesh;
mod parts;
mod rails;
mod ring;
mod scale_up;
mod spine_leaf;
mod three_layer;

pub use dumbbell::dumbbell;
pub use fat_tree::{fat_tree, fat_tree_with_routers};
pub use mesh::mesh;
pub use rails::{RailLinks, Rails, rails};
pub use ring::ring;
pub use scale_up::{SCALE_UP_DELAY, SCALE_UP_RATE, scale_up_link};
pub use spine_leaf::{oversubscribed_rate, spine_leaf, spine_leaf_with_tors};
pub use three_layer::{ThreeLayer, three_layer};
