//! [`Communicators`]: the ranks of the communicator that a node names.

use super::groups::Groups;
use super::operation::RankTrace;
use crate::trace::error::{Place, TraceError};
use crate::words::short;

/// The communicators of all ranks.
pub struct Communicators<'a> {
    /// Of the file that describes them.
    described: Groups,
    traces: &'a [RankTrace],
    all: Vec<u32>,
}

impl<'a> Communicators<'a> {
    /// The communicators of these ranks, and of ASTRA-sim's JSON file.
    ///
    /// # Errors
    /// The file is no such description.
    pub fn of(traces: &'a [RankTrace], file: Option<&[u8]>) -> Result<Self, TraceError> {
        let ranks = traces.len() as u32;
        let described = file.map_or(Ok(Groups::default()), |file| Groups::of_file(file, ranks));
        let described =
            described.map_err(|why| TraceError::file(format!("the file of `communicators`: {why}")))?;
        Ok(Self { described, traces, all: (0..ranks).collect() })
    }

    /// The ranks of the communicator that a rank's node names.
    ///
    /// # Errors
    /// There is none of this name, or the rank is not in it.
    pub fn ranks(&self, name: &str, rank: u32, place: Place) -> Result<&[u32], TraceError> {
        let own = self.traces[rank as usize].groups.get(name);
        let found = match own.or_else(|| self.described.get(name)) {
            Some(found) => found,
            // ASTRA-sim's name of all ranks.
            None if matches!(name, "" | "0") => &self.all,
            None => {
                let why = format!(
                    "`pg_name` is `{}`, and no metadata node of rank {rank} describes that communicator; name ASTRA-sim's \
                     file of communicators in `communicators`",
                    short(name)
                );
                return Err(TraceError::at(place, why));
            }
        };
        if !found.contains(&rank) {
            let why = format!("rank {rank} is not in communicator `{}`, which it uses", short(name));
            return Err(TraceError::at(place, why));
        }
        Ok(found)
    }
}
