//! [`Key`]: a key that a section may have: the kind of its value, its default and its meaning. The check for unknown
//! keys, the JSON Schema and the documentation derive from lists of keys.

/// The kind of value of a key.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number, at least this.
    Count(u64),
    /// A whole number from 0 to this.
    UpTo(u64),
    /// A number.
    Number,
    /// true or false.
    Flag,
    /// A duration, as a string with a unit.
    Duration,
    /// A rate, as a string with a unit.
    Rate,
    /// A size, as a string with a unit.
    Bytes,
    /// A queue size in packets or bytes.
    Limit,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of the words of a registry.
    Choice(fn() -> Vec<&'static str>),
    /// A list of strings.
    Texts,
    /// A list of whole numbers.
    Counts,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// One of several forms.
    Either(&'static [Kind]),
    /// A list of exactly two of this kind.
    Pair(&'static Kind),
    /// A list of this kind.
    List(&'static Kind),
}

/// A key that a section may have.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Its default.
    pub default: Preset,
    /// Its meaning.
    pub doc: &'static str,
}

/// The default of a key, as the text of a value without quotes. One that depends on other keys is described in words.
#[derive(Clone, Copy, Debug)]
pub enum Preset {
    /// This one, which its section decodes if the key is missing; empty: there is none.
    Text(&'static str),
    /// That of a value of another crate.
    Of(fn() -> String),
}

/// A key of a section.
pub(crate) const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default: Preset::Text(default), doc }
}

impl Key {
    /// The key with the default of a value of another crate.
    pub(crate) const fn of(self, default: fn() -> String) -> Self {
        Self { default: Preset::Of(default), ..self }
    }

    /// The text of its default; empty if there is none.
    pub(crate) fn default(&self) -> String {
        match self.default {
            Preset::Text(text) => text.to_owned(),
            Preset::Of(text) => text(),
        }
    }
}
