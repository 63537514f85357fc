//! [`Tagging`]: the fixed settings of the Tag-and-Forward programs.

use thiserror::Error;
use weft_switching::{ParamValue, SchemeSpec};
use weft_wire::{EtherType, TagWidth};

use crate::layout::Settings;

/// The fixed settings of a Tag-and-Forward switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tagging {
    /// The format of tags.
    pub width: TagWidth,
    /// EtherType of tagged frames.
    pub ethertype: EtherType,
    /// Whether each frame takes a random way of its group instead of its flow's, chosen by ECMP's hash.
    pub sprays: bool,
    /// The major number of an HTB on the ports, whose classes 1 to 8 receive the frames of QID 0 to 7; 0: QID is
    /// ignored.
    pub queue_major: u16,
}

/// A program cannot see queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "`choice` is \"least-loaded\", but the kernel program cannot see the queue lengths of ports: use \"ecmp\" or \
     \"spray\""
)]
pub struct NoLoad;

/// Narrow tags with their own EtherType, ways by ECMP's hash, no queues.
impl Default for Tagging {
    fn default() -> Self {
        Self {
            width: TagWidth::Narrow,
            ethertype: TagWidth::Narrow.ethertype(),
            sprays: false,
            queue_major: 0,
        }
    }
}

impl Tagging {
    /// The settings from the parameters `width` and `choice` of a scheme, with the default EtherType of the width.
    ///
    /// # Errors
    /// [`NoLoad`].
    pub fn from_spec(spec: &SchemeSpec) -> Result<Self, NoLoad> {
        let word = |param: &str| match spec.params.get(param) {
            Some(ParamValue::Text(word)) => word.as_str(),
            _ => "",
        };
        if word("choice") == "least-loaded" {
            return Err(NoLoad);
        }
        let width = word("width").parse().unwrap_or_default();
        let sprays = word("choice") == "spray";
        Ok(Self { width, ethertype: width.ethertype(), sprays, queue_major: 0 })
    }
}

impl Settings {
    /// These settings with those of Tag-and-Forward.
    #[must_use]
    pub const fn tagging(self, tagging: &Tagging) -> Self {
        Self {
            down_bits: tagging.width.down_bits() as u8,
            sprays: tagging.sprays as u8,
            tag_type: tagging.ethertype.0,
            queue_major: tagging.queue_major,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_by_load_is_refused_and_says_why() {
        let spec = |choice: &str, width: &str| SchemeSpec {
            name: "tag_forward".to_owned(),
            params: [("choice", choice), ("width", width)]
                .map(|(name, word)| (name.to_owned(), ParamValue::Text(word.to_owned())))
                .into(),
        };
        assert_eq!(Tagging::from_spec(&spec("least-loaded", "wide")), Err(NoLoad));
        let spray = Tagging::from_spec(&spec("spray", "wide")).unwrap();
        assert_eq!((spray.sprays, spray.ethertype), (true, EtherType::WIDE_TAG));
        assert_eq!(Tagging::from_spec(&spec("ecmp", "narrow")), Ok(Tagging::default()));
    }
}
