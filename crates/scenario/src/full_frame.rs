//! The frame of a full packet of a transport on a link.

use weft_fabric::{Fabric, Link};
use weft_switching::Descriptor;
use weft_transport::Protocol;

/// The bytes of a full packet on the wire of a link.
pub(crate) fn full_frame(fabric: &Fabric, link: &Link, transport: &Protocol, scheme: &Descriptor) -> u32 {
    let is_between = ![link.from, link.to].into_iter().any(|node| fabric.node(node).is_host());
    let tag = if is_between { scheme.tag_bytes } else { 0 };
    link.overhead.wire_bytes(transport.framing().full_packet().saturating_add(tag))
}
