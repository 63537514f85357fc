//! [`Notes`]: the parts of a file that a reader leaves out or reads in a way that may surprise, named once per file.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Names in one note.
const MOST: usize = 8;

/// The notes of a file.
#[derive(Default, Debug)]
pub(super) struct Notes {
    said: Vec<String>,
    /// Notes about lines, by their kind: the place of the first in `said`, and how many more there are.
    lines: BTreeMap<&'static str, (usize, usize)>,
    /// Ignored attributes, by the kind of element.
    ignored: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Notes {
    /// Adds a note.
    pub fn add(&mut self, note: impl Into<String>) {
        self.said.push(note.into());
    }

    /// Adds a note about a line, and only counts further ones of the same kind.
    pub fn add_line(&mut self, kind: &'static str, line: usize, note: impl FnOnce() -> String) {
        match self.lines.entry(kind) {
            Entry::Occupied(mut of) => of.get_mut().1 += 1,
            Entry::Vacant(of) => {
                of.insert((self.said.len(), 0));
                self.said.push(format!("line {line}: {}", note()));
            }
        }
    }

    /// Notes that an attribute of these elements is ignored.
    pub fn ignore(&mut self, elements: &'static str, name: &str) {
        let names = self.ignored.entry(elements).or_default();
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// All notes, each with the file that it is about.
    pub fn about(mut self, path: &str) -> impl Iterator<Item = String> {
        let ignored = self.ignored.into_iter().map(|(elements, names)| {
            let mut listed: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
            let more = names.len() - listed.len();
            if more > 0 {
                listed.push(format!("{more} more"));
            }
            format!("these attributes of {elements} have no effect: {}", listed.join(", "))
        });
        for (first, more) in self.lines.into_values().filter(|(_, more)| *more > 0) {
            let end = if more == 1 { "" } else { "s" };
            self.said[first] += &format!(" (and {more} more line{end} like it)");
        }
        self.said.into_iter().chain(ignored).map(move |note| format!("{path}: {note}"))
    }
}
