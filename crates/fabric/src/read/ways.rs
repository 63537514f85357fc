//! The two directions of an edge from its attributes, in the formats of other programs.

use std::collections::BTreeMap;

use super::Why;
use super::attributes::{BACK, FORTH, LinkAttributes, parse, truth};
use super::known::Element;
use crate::LinkSpec;

/// The directions of an edge.
pub(super) struct Ways {
    pub forth: LinkSpec,
    /// `None` for an edge of a directed graph, whose reverse is another edge.
    pub back: Option<LinkSpec>,
    pub up: bool,
}

impl Ways {
    /// From the text of each attribute; missing ones come from `defaults`.
    ///
    /// # Errors
    /// An unknown attribute, or an invalid value.
    pub fn read<T: AsRef<str>>(
        texts: &BTreeMap<&str, T>,
        directed: bool,
        defaults: &LinkSpec,
    ) -> Result<Self, Why> {
        let kind = if directed { Element::Directed } else { Element::Undirected };
        kind.check(texts.keys().copied())?;
        let get = |key: &str| texts.get(key).map(AsRef::as_ref);
        let forth = LinkAttributes::from_text(&FORTH, get)?.or(defaults);
        let back = if directed { None } else { Some(LinkAttributes::from_text(&BACK, get)?.or(&forth)) };
        let up = parse("up", get("up"), truth)?.unwrap_or(true);
        Ok(Self { forth, back, up })
    }
}
