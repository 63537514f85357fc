//! Properties of all messages: written messages parse to the same, no bytes make a parser panic, a stream gives
//! the same messages however it is split.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use weft_wire::Error;
use weft_wire::openflow::{Match, Message, Messages};

use super::messages::{matching, message, written};

proptest! {
    #[test]
    fn what_is_written_is_read_again(message in message(), xid: u32) {
        let bytes = written(&message, xid);
        prop_assert_eq!(Message::parse(&bytes), Ok((xid, message)));
        // And again, from its position in the message.
        let (_, read) = Message::parse(&bytes).unwrap();
        prop_assert_eq!(written(&read, xid), bytes);
    }

    #[test]
    fn what_is_read_of_any_bytes_can_be_written(
        message in message(),
        changes in vec(any::<(Index, u8)>(), 1..6),
    ) {
        let mut bytes = written(&message, 7);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((xid, read)) = Message::parse(&bytes) {
            let again = written(&read, xid);
            prop_assert_eq!(Message::parse(&again), Ok((xid, read)));
        }
    }

    #[test]
    fn a_message_that_ends_early_is_refused(message in message(), cut: Index) {
        let bytes = written(&message, 7);
        let have = cut.index(bytes.len());
        let need = if have < 8 { have / 2 * 2..=8 } else { bytes.len()..=bytes.len() };
        match Message::parse(&bytes[..have]) {
            Err(Error::Short { need: said, have: there }) => {
                prop_assert!(there == have && said > have && *need.end() >= said);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn a_stream_gives_the_same_messages_however_it_comes(
        messages in vec(message(), 1..6),
        cuts in vec(1..200_usize, 1..10),
    ) {
        let whole: Vec<Vec<u8>> = messages.iter().map(|message| written(message, 7)).collect();
        let stream = whole.concat();
        let (mut buffer, mut found, mut at) = (Vec::new(), Vec::new(), 0);
        for cut in cuts.into_iter().chain([stream.len()]) {
            let next = stream.len().min(at + cut);
            buffer.extend(&stream[at..next]);
            at = next;
            let mut framer = Messages::new(&buffer);
            found.extend(framer.by_ref().map(|message| message.unwrap().to_vec()));
            let rest = framer.rest().len();
            buffer.drain(..buffer.len() - rest);
        }
        prop_assert_eq!(found, whole);
        prop_assert!(buffer.is_empty());
    }

    #[test]
    fn a_match_cut_to_the_shape_of_another_is_that_match_if_it_lies_within(a in matching(), b in matching()) {
        // Cut to its own shape it is unchanged, and cut to no fields it matches all packets.
        prop_assert_eq!(a.cut(&a), Some(a));
        prop_assert_eq!(a.cut(&Match::default()), Some(Match::default()));
        prop_assert_eq!(a.cut(&b.shape()), a.cut(&b));
        if let Some(cut) = a.cut(&b) {
            prop_assert_eq!(cut.shape(), b.shape());
            prop_assert_eq!(cut.cut(&b), Some(cut));
        }
    }
}
