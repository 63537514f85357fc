//! The fields of Ultra Ethernet's packets in a simulated packet.

use weft_switching::Header;
use weft_transport::uec::{Answer, Config, Data};

use crate::packet::Content;

/// DSCP of answers: class selector 6, an urgent queue.
const ANSWER_DSCP: u8 = 48;
/// The ECN code point of data: ECN-capable.
const ECT: u8 = 0b10;
/// Bits of [`Content::note`]. In data: attempt, then this.
const ASKS: u32 = 1 << 8;
/// In answers: entropy, attempt, then these.
const MARKED: u32 = 1 << 24;
const TRIMMED: u32 = 1 << 25;

/// Header and content of a data packet.
pub fn of_data(template: &Header, config: &Config, data: &Data) -> (Header, Content) {
    let header = Header {
        entropy: data.entropy.into(),
        traffic_class: template.traffic_class | ECT,
        ip_bytes: config.ip_bytes(data.bytes),
        payload: data.bytes,
        ..*template
    };
    let note = u32::from(data.attempt) | if data.asks { ASKS } else { 0 };
    (header, Content { words: [data.number, 0, 0, 0], note })
}

/// The data packet with `header` and `content`.
pub fn data(header: &Header, content: &Content) -> Data {
    Data {
        number: content.words[0],
        bytes: header.payload,
        entropy: header.entropy as u16,
        attempt: content.note as u8,
        asks: content.note & ASKS != 0,
    }
}

/// Header and content of an answer that takes the path of `entropy`.
pub fn of_answer(template: &Header, entropy: u16, answer: &Answer) -> (Header, Content) {
    let header = Header {
        entropy: entropy.into(),
        traffic_class: ANSWER_DSCP << 2,
        ip_bytes: Config::ANSWER,
        ..*template
    };
    let words = [answer.number, answer.cumulative, answer.bitmap as u32, (answer.bitmap >> 32) as u32];
    let flags = if answer.is_marked { MARKED } else { 0 } | if answer.is_trimmed { TRIMMED } else { 0 };
    let note = u32::from(answer.entropy) | u32::from(answer.attempt) << 16 | flags;
    (header, Content { words, note })
}

/// The answer with `content`.
pub fn answer(content: &Content) -> Answer {
    let [number, cumulative, low, high] = content.words;
    Answer {
        number,
        cumulative,
        bitmap: u64::from(low) | u64::from(high) << 32,
        entropy: content.note as u16,
        attempt: (content.note >> 16) as u8,
        is_marked: content.note & MARKED != 0,
        is_trimmed: content.note & TRIMMED != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_they_were_written() {
        let (template, config) = (Header { sport: 7, ..Header::default() }, Config::default());
        for asks in [false, true] {
            let sent = Data { number: 5, bytes: 4096, entropy: 63, attempt: 255, asks };
            let (header, content) = of_data(&template, &config, &sent);
            assert_eq!((header.ip_bytes, header.sport), (4160, 7));
            assert_eq!(data(&header, &content), sent);
        }
        for is_marked in [false, true] {
            let sent = Answer {
                number: u32::MAX,
                cumulative: 1 << 31,
                bitmap: 0x8765_4321_0fed_cba9,
                entropy: u16::MAX,
                attempt: 255,
                is_marked,
                is_trimmed: !is_marked,
            };
            let (header, content) = of_answer(&template, 12, &sent);
            assert_eq!((header.entropy, header.payload, content.note >> 30), (12, 0, 0));
            assert_eq!(answer(&content), sent);
        }
    }
}
