//! Numbers of maps as people read them.

/// An address of 48 bits as `02:00:00:00:00:01`.
pub fn mac(address: u64) -> String {
    let [_, _, bytes @ ..] = address.to_be_bytes();
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

/// A station's class, by the numbers of `weft_switching::arp_path`.
pub const fn station_class(class: u8) -> &'static str {
    match class {
        weft_switching::arp_path::LOCKED => "locked",
        weft_switching::arp_path::LEARNT => "learnt",
        _ => "attached",
    }
}

/// A flow's class, by the numbers of `weft_switching::path_table`.
pub const fn path_class(class: u8) -> &'static str {
    match class {
        weft_switching::path_table::LOCKED => "locked",
        weft_switching::path_table::CLOSING => "closing",
        _ => "confirmed",
    }
}

/// What a frame is to a switch, by the numbers of `weft_switching::Kind`.
pub fn kind(number: u8) -> &'static str {
    const KINDS: [&str; 10] = [
        "tcp",
        "other",
        "arp-request",
        "arp-reply",
        "hello",
        "path-request",
        "path-reply",
        "path-fail",
        "recovery-request",
        "recovery-reply",
    ];
    KINDS.get(usize::from(number)).copied().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_switching::Kind;

    #[test]
    fn kinds_have_the_names_of_their_numbers() {
        assert_eq!(kind(Kind::Tcp as u8), "tcp");
        assert_eq!(kind(Kind::Hello as u8), "hello");
        assert_eq!(kind(Kind::RecoveryReply as u8), "recovery-reply");
        assert_eq!(mac(0x0200_0000_00ff), "02:00:00:00:00:ff");
    }
}
