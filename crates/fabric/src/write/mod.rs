//! Writers: [`Fabric`](crate::Fabric) to the text that [`read`](crate::read) takes, so that a fabric
//! can be changed by hand or with NetworkX. What is read back has the same nodes and links in the same
//! order; its shape is [`Shape::Custom`](crate::Shape::Custom).

mod node_link;
mod toml;

pub use self::toml::toml;
pub use node_link::node_link;
