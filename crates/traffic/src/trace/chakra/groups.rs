//! [`Groups`]: the ranks of communicators, by name, as a rank's metadata or a file describes them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::words::short;

/// The ranks of communicators, by name.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Groups(BTreeMap<String, Vec<u32>>);

impl Groups {
    /// Those of a JSON file such as ASTRA-sim's: `{"1": [0, 1], "2": [2, 3]}`.
    ///
    /// # Errors
    /// The file is no such description.
    pub fn of_file(file: &[u8], ranks: u32) -> Result<Self, String> {
        let parsed = serde_json::from_slice(file)
            .map_err(|error| format!("expected communicators such as {{\"1\": [0, 1]}}: {error}"))?;
        Self::checked(parsed, ranks)
    }

    /// The process groups that a metadata node describes, as PyTorch writes them: a JSON list in a list of Python.
    /// Empty for another metadata node.
    ///
    /// # Errors
    /// A group has wrong ranks.
    pub fn of_metadata(values: &str, ranks: u32) -> Result<Self, String> {
        let list = values.strip_prefix("['").and_then(|rest| rest.strip_suffix("']"));
        let groups: Vec<ProcessGroup> =
            list.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
        let everyone = || (0..u64::from(ranks)).collect();
        let named = groups.into_iter().map(|group| {
            // No ranks are all ranks.
            (group.pg_name, if group.ranks.is_empty() { everyone() } else { group.ranks })
        });
        Self::checked(named.collect(), ranks)
    }

    /// Adds others; those of the same names replace earlier ones.
    pub fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The ranks of a communicator.
    pub fn get(&self, name: &str) -> Option<&[u32]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Communicators whose ranks exist, each once.
    fn checked(named: BTreeMap<String, Vec<u64>>, ranks: u32) -> Result<Self, String> {
        let mut checked = BTreeMap::new();
        for (name, members) in named {
            let of = format!("communicator `{}`", short(&name));
            let mut seen = BTreeSet::new();
            let mut list = Vec::with_capacity(members.len());
            for member in members {
                let rank = u32::try_from(member).ok().filter(|rank| *rank < ranks);
                let rank = rank.ok_or_else(|| {
                    format!("{of} has rank {member}, and the last one is {}", ranks.saturating_sub(1))
                })?;
                if !seen.insert(rank) {
                    return Err(format!("{of} has rank {rank} twice"));
                }
                list.push(rank);
            }
            checked.insert(name, list);
        }
        Ok(Self(checked))
    }
}

/// A process group of PyTorch.
#[derive(Deserialize)]
struct ProcessGroup {
    pg_name: String,
    ranks: Vec<u64>,
}
