//! The answer of a link's other end to a frame.

use weft_wire::{Arp, EtherType, Ethernet, Mac, PathFrame, PathHeader, PathType, TcpFrame, unwrap};

use crate::conformance::frames::{self, arp, ethernet, ipv4, tcp, wrapped};

/// An answer to `frame`: SYN+ACK to SYN, data to data, a reply to a request, wrapped if `frame` was; with
/// `fail`, a Path Fail for its path.
pub fn answer(frame: &[u8], fail: bool) -> Option<Vec<u8>> {
    let path = PathFrame::parse(frame, EtherType::PATH).ok().map(|path| path.header());
    let mut original = vec![0; frame.len()];
    match path {
        Some(path) if path.path_type == PathType::Request => {
            let len = unwrap(frame, EtherType::PATH, &mut original).ok()?;
            original.truncate(len);
        }
        Some(path) => {
            let path_type = if fail { PathType::Fail } else { PathType::RecoveryReply };
            let back = PathHeader { path_type, hops: 0, tuple: path.tuple.reverse(), ..path };
            return Some(frames::path(back, 0));
        }
        None => original.copy_from_slice(frame),
    }
    let ethernet = Ethernet::parse(&original).ok()?;
    if let Ok(request) = Arp::parse(&ethernet) {
        let (from, to) = (Mac([2, 0, 0, 0, 0, 1 + request.sender().0[5] % 5]), ethernet.source());
        return Some(self::ethernet(to, from, 0, EtherType::ARP, &arp(2, from, to)));
    }
    let read = TcpFrame::parse(&original).ok()?;
    let tuple = read.tuple().reverse();
    if fail {
        let id = path.map_or(0, |path| path.id);
        return Some(frames::path(PathHeader { path_type: PathType::Fail, hops: 1, id, tuple }, 0));
    }
    let flags = if read.tcp().is_syn() { 0x12 } else { 0x10 };
    let segment = tcp(tuple.source_port, tuple.destination_port, 9, flags, &[]);
    let back = self::ethernet(tuple.destination, tuple.source, 0, EtherType::IPV4, &ipv4(6, &segment));
    Some(match path {
        Some(path) => wrapped(&back, PathType::Reply, path.id),
        None => back,
    })
}
