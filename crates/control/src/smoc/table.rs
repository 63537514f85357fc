//! [`Table`]: the rules of a switch.

use rustc_hash::FxHashMap;

use crate::rule::{Match, Rule};

/// Rules by priority and match, which are unique in a switch.
pub(super) type Table = FxHashMap<(u16, Match), Rule>;
