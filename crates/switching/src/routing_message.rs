//! [`Router`]: frames from and for a routing daemon on the same machine, which has neighbours on fabric ports (BGP unnumbered
//! with BFD).
//!
//! Such frames are never forwarded. They pass only from the machine at the other end of the link, known by the source of its
//! Hello messages, to this machine, and only if they are messages that the daemon needs: neighbour discovery, BGP and BFD over
//! link-local addresses. Hosts cannot forge them: every switch refuses frames whose source is the address of one of its own
//! ports, so a frame with the peer's address that arrives over the link was sent by the peer itself.

use std::net::Ipv6Addr;

use weft_wire::{EtherType, Ethernet, IpProtocol, Ipv6, Mac};

/// The TCP port of BGP.
const BGP: u16 = 179;
/// The UDP port of BFD on one link (RFC 5881).
const BFD: u16 = 3784;
/// Router Solicitation to Neighbour Advertisement (RFC 4861).
const DISCOVERY: std::ops::RangeInclusive<u8> = 133..=136;

/// A message for the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// BFD, which has a rate limit of its own: a burst of others must not end its sessions.
    Bfd,
    /// BGP, or neighbour discovery.
    Routing,
}

/// What becomes of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It concerns stations: it is forwarded as usual.
    Forward,
    /// It is passed to the machine, within the rate limit.
    Pass(Message),
    /// It ends here: the peer's kernel sends multicasts by itself, such as MLD.
    Consume,
    /// It is dropped as not trusted.
    Refuse,
}

/// The machines at both ends of a port's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// The address of the port, if a peer may be there.
    pub own: Option<Mac>,
    /// The address of the peer, if one is known.
    pub peer: Option<Mac>,
}

/// The ends of all ports' links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Router {
    /// By port.
    pub ports: Vec<Ends>,
}

impl Router {
    /// What becomes of a frame that arrives on the port `number`, a fabric port or not. Frames that only switches send are
    /// not asked about.
    pub fn decide(&self, number: usize, is_fabric: bool, frame: &[u8]) -> Verdict {
        let Ok(ethernet) = Ethernet::parse(frame) else { return Verdict::Forward };
        let (to, from) = (ethernet.destination(), ethernet.source());
        let is_marked = from.is_group();
        let from = Mac::from_bits(from.bits() & !(1 << 40));
        let is_own = |mac| self.ports.iter().any(|ends| ends.own == Some(mac));
        let ends = self.ports.get(number).copied().unwrap_or_default();
        if is_own(from) {
            return Verdict::Refuse;
        }
        let is_from_peer = ends.peer == Some(from);
        if !is_own(to) && !is_from_peer {
            return Verdict::Forward;
        }
        let is_for_port = if is_own(to) { ends.own == Some(to) } else { to.is_group() };
        if !is_from_peer || is_marked || !is_fabric || !is_for_port {
            return Verdict::Refuse;
        }
        let may_be_message = is_own(to) || to.0.starts_with(&[0x33, 0x33]);
        match message(&ethernet).filter(|_| may_be_message) {
            Some(message) => Verdict::Pass(message),
            None if is_own(to) => Verdict::Refuse,
            None => Verdict::Consume,
        }
    }
}

/// The message in a frame, if it stays within one link.
fn message(ethernet: &Ethernet<'_>) -> Option<Message> {
    let is_plain = ethernet.ethertype() == EtherType::IPV6 && ethernet.tag_bytes().is_empty();
    let ip = is_plain.then(|| Ipv6::parse(ethernet.payload()).ok()).flatten()?;
    let (from, to) = (ip.source(), ip.destination());
    let is_local = |ip: Ipv6Addr| ip.is_unicast_link_local();
    let has_extensions = ethernet.payload().get(6) != Some(&ip.protocol().0);
    let &[a, b, c, d] = ip.payload().first_chunk::<4>()?;
    let [source, destination] = [[a, b], [c, d]].map(u16::from_be_bytes);
    let is_within_link = is_local(from) && is_local(to);
    match ip.protocol() {
        _ if has_extensions => None,
        IpProtocol::ICMPV6 if ip.hop_limit() == 255 && DISCOVERY.contains(&a) => {
            let is_ours =
                (is_local(to) || to.segments()[0] == 0xff02) && (is_local(from) || from.is_unspecified());
            is_ours.then_some(Message::Routing)
        }
        IpProtocol::TCP if is_within_link => {
            (source == BGP || destination == BGP).then_some(Message::Routing)
        }
        IpProtocol::UDP if is_within_link && ip.hop_limit() == 255 => {
            (destination == BFD).then_some(Message::Bfd)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Mac = Mac([2, 0, 0, 0, 1, 1]);
    const PEER: Mac = Mac([2, 0, 0, 0, 1, 2]);
    const HOST: Mac = Mac([2, 0, 0, 0, 2, 1]);

    /// A frame with an IPv6 packet between link-local addresses.
    fn frame(to: Mac, from: Mac, protocol: u8, hop_limit: u8, payload: [u8; 4]) -> Vec<u8> {
        let mut frame = [to.0, from.0].concat();
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 4, protocol, hop_limit]);
        for end in [1, 2] {
            frame.extend(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, end).octets());
        }
        frame.extend(payload);
        frame
    }

    const BGP_MESSAGE: [u8; 4] = [0, 179, 200, 0];

    fn router() -> Router {
        let other = Ends { own: Some(Mac([2, 0, 0, 0, 1, 3])), peer: None };
        Router { ports: vec![Ends { own: Some(OWN), peer: Some(PEER) }, other] }
    }

    #[test]
    fn messages_of_the_peer_pass_and_all_else_between_the_machines_does_not() {
        let router = router();
        let decide =
            |protocol, hops, payload| router.decide(0, true, &frame(OWN, PEER, protocol, hops, payload));
        for (protocol, hops, payload, expected) in [
            (6, 1, BGP_MESSAGE, Verdict::Pass(Message::Routing)),
            (6, 64, [200, 0, 0, 179], Verdict::Pass(Message::Routing)),
            (6, 64, [200, 0, 0, 22], Verdict::Refuse),
            (17, 255, [200, 0, 0x0e, 0xc8], Verdict::Pass(Message::Bfd)),
            (17, 254, [200, 0, 0x0e, 0xc8], Verdict::Refuse),
            (58, 255, [135, 0, 0, 0], Verdict::Pass(Message::Routing)),
            (58, 64, [135, 0, 0, 0], Verdict::Refuse),
            (58, 255, [137, 0, 0, 0], Verdict::Refuse),
            (58, 255, [128, 0, 0, 0], Verdict::Refuse),
        ] {
            assert_eq!(decide(protocol, hops, payload), expected, "{protocol} {hops} {payload:?}");
        }
    }

    #[test]
    fn nobody_but_the_peer_reaches_the_machine() {
        let router = router();
        let bgp = |to, from| frame(to, from, 6, 64, BGP_MESSAGE);
        let marked = Mac([3, 0, 0, 0, 1, 2]);
        assert_eq!(router.decide(0, true, &bgp(OWN, HOST)), Verdict::Refuse);
        assert_eq!(router.decide(0, false, &bgp(OWN, PEER)), Verdict::Refuse, "not a fabric port");
        assert_eq!(router.decide(0, true, &bgp(OWN, marked)), Verdict::Refuse, "flooded by a switch");
        assert_eq!(router.decide(1, true, &bgp(OWN, PEER)), Verdict::Refuse, "over another link");
        assert_eq!(router.decide(0, true, &bgp(HOST, OWN)), Verdict::Refuse, "our own address");
        assert_eq!(router.decide(0, true, &bgp(HOST, PEER)), Verdict::Refuse, "a peer is no station");
        assert_eq!(router.decide(0, true, &bgp(PEER, HOST)), Verdict::Forward, "to a machine elsewhere");
        assert_eq!(router.decide(1, true, &bgp(HOST, PEER)), Verdict::Forward);
    }

    #[test]
    fn multicasts_of_the_peer_stay_on_the_link_and_those_of_hosts_do_not() {
        let group = Mac([0x33, 0x33, 0, 0, 0, 1]);
        let sent = |from, payload| router().decide(0, true, &frame(group, from, 58, 255, payload));
        assert_eq!(sent(PEER, [134, 0, 0, 0]), Verdict::Pass(Message::Routing), "a Router Advertisement");
        assert_eq!(sent(PEER, [143, 0, 0, 0]), Verdict::Consume, "MLD");
        assert_eq!(sent(HOST, [134, 0, 0, 0]), Verdict::Forward);
        let broadcast = frame(Mac::BROADCAST, PEER, 58, 255, [134, 0, 0, 0]);
        assert_eq!(router().decide(0, true, &broadcast), Verdict::Consume);
        assert_eq!(router().decide(0, false, &broadcast), Verdict::Refuse);
    }

    #[test]
    fn tags_extension_headers_and_short_packets_do_not_pass() {
        let plain = frame(OWN, PEER, 58, 255, [135, 0, 0, 0]);
        let tagged = [&plain[..12], &[0x81, 0, 0, 1], &plain[12..]].concat();
        let mut extended = frame(OWN, PEER, 0, 255, [58, 0, 0, 0]);
        extended.extend([0, 0, 0, 0, 135, 0, 0, 0]);
        extended[19] = 12;
        for frame in [&tagged, &extended, &plain[..plain.len() - 1].to_vec()] {
            assert_eq!(router().decide(0, true, frame), Verdict::Refuse);
        }
    }
}
