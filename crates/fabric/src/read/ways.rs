//! What the attributes of an edge say of its directions, in the formats of other programs.

use std::collections::BTreeMap;

use super::Why;
use super::attributes::{BACK, FORTH, LinkAttributes, parse, truth};
use super::known::Element;
use crate::LinkSpec;

/// The directions of an edge.
pub(super) struct Ways {
    pub forth: LinkSpec,
    /// `None` for an edge of a directed graph, whose way back is another edge.
    pub back: Option<LinkSpec>,
    pub up: bool,
}

impl Ways {
    /// From the text of each attribute; what is not given is that of `defaults`.
    ///
    /// # Errors
    /// An attribute that is not known, or whose value is wrong.
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
