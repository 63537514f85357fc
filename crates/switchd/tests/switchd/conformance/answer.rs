//! The answer of a link's other end to a frame.

use weft_wire::{
    Arp, EtherType, Ethernet, Mac, PATH_HEADER_LEN, PathFrame, PathHeader, PathType, TcpFrame, unwrap, wrap,
};

use crate::conformance::frames::{arp, ethernet, ipv4, tcp};

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
            let back = PathHeader {
                path_type: PathType::RecoveryReply,
                hops: 0,
                tuple: path.tuple.reverse(),
                ..path
            };
            let back = if fail { PathHeader { path_type: PathType::Fail, ..back } } else { back };
            let mut frame = vec![0; 60];
            back.write(&[], EtherType::PATH, &mut frame).ok()?;
            return Some(frame);
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
        let fail = PathHeader { path_type: PathType::Fail, hops: 1, id, tuple };
        let mut frame = vec![0; 60];
        fail.write(&[], EtherType::PATH, &mut frame).ok()?;
        return Some(frame);
    }
    let flags = if read.tcp().is_syn() { 0x12 } else { 0x10 };
    let segment = tcp(tuple.source_port, tuple.destination_port, 9, flags, &[]);
    let back = self::ethernet(tuple.destination, tuple.source, 0, EtherType::IPV4, &ipv4(6, &segment));
    let Some(path) = path else { return Some(back) };
    let mut wrapped = vec![0; back.len() + PATH_HEADER_LEN];
    wrap(&back, PathType::Reply, path.id, EtherType::PATH, &mut wrapped).ok()?;
    Some(wrapped)
}
