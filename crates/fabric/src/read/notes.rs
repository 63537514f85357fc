//! [`Notes`]: what a reader leaves out of a file or reads in a way that may surprise, said once for the whole file.

use std::collections::{BTreeMap, BTreeSet};

/// Names in one note.
const MOST: usize = 8;

/// The notes of a file.
#[derive(Default, Debug)]
pub(super) struct Notes {
    said: Vec<String>,
    /// Ignored attributes, by the kind of element.
    ignored: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Notes {
    /// Adds a note.
    pub fn add(&mut self, note: impl Into<String>) {
        self.said.push(note.into());
    }

    /// Notes that an attribute of these elements is ignored.
    pub fn ignore(&mut self, elements: &'static str, name: &str) {
        let names = self.ignored.entry(elements).or_default();
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// All notes, each with the file that it is about.
    pub fn about(self, path: &str) -> impl Iterator<Item = String> {
        let ignored = self.ignored.into_iter().map(|(elements, names)| {
            let mut listed: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
            let more = names.len() - listed.len();
            if more > 0 {
                listed.push(format!("{more} more"));
            }
            format!("these attributes of {elements} have no effect: {}", listed.join(", "))
        });
        self.said.into_iter().chain(ignored).map(move |note| format!("{path}: {note}"))
    }
}
