//! The two directions of an edge from its attributes, in the formats of other programs.

use std::collections::BTreeMap;

use super::ErrorKind;
use super::attributes::{BACK, FORTH, LinkAttributes, parse, truth};
use super::known::Element;
use super::notes::Notes;
use super::zoo;
use crate::LinkSpec;

/// The directions of an edge.
pub(super) struct Ways {
    pub forth: LinkSpec,
    /// `None` for an edge of a directed graph, whose reverse is another edge.
    pub back: Option<LinkSpec>,
    pub up: bool,
    /// Whether the rate is the speed of the Topology Zoo.
    pub is_speed: bool,
}

impl Ways {
    /// Parses the text of each attribute; missing ones come from `defaults`.
    ///
    /// # Errors
    /// An attribute that seems to be meant for one of Weft's, or an invalid value.
    pub fn read<T: AsRef<str>>(
        texts: &BTreeMap<&str, T>,
        directed: bool,
        defaults: &LinkSpec,
        notes: &mut Notes,
    ) -> Result<Self, ErrorKind> {
        let kind = if directed { Element::Directed } else { Element::Undirected };
        kind.check(texts.iter().map(|(name, text)| (*name, text.as_ref())), notes)?;
        let get = |key: &str| texts.get(key).map(AsRef::as_ref);
        let mut forth = LinkAttributes::from_text(&FORTH, get)?;
        let speed = zoo::speed(get)?;
        let is_speed = forth.rate.is_none() && speed.is_some();
        forth.rate = forth.rate.or(speed);
        let forth = forth.or(defaults);
        let back = if directed { None } else { Some(LinkAttributes::from_text(&BACK, get)?.or(&forth)) };
        let up = parse("up", get("up"), truth)?.unwrap_or(true);
        Ok(Self { forth, back, up, is_speed })
    }
}
