//! [`List`]: elements one after another in a message.

use core::fmt;

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// How an element is read and written. Out of reach elsewhere.
pub trait Codec<'a>: Copy + PartialEq + fmt::Debug {
    /// The bytes that it has.
    fn encoded_len(&self) -> usize;
    /// Reads the next.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>;
    /// Writes it.
    fn put(&self, writer: &mut Writer);
}

/// What lists are of: actions, ports, statistics of rules.
pub trait Element<'a>: Codec<'a> {}

impl<'a, T: Codec<'a>> Element<'a> for T {}

/// Elements as they stand in a message, all of them checked, or as they are to be written.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    source: Source<'a, T>,
}

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Message(&'a [u8]),
    Given(&'a [T]),
}

impl<'a, T: Element<'a>> List<'a, T> {
    /// A list to be written.
    pub const fn new(elements: &'a [T]) -> Self {
        Self { source: Source::Given(elements) }
    }

    /// The elements that `reader` has left.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, Error> {
        let bytes = reader.rest();
        while !reader.is_empty() {
            T::read(&mut reader)?;
        }
        Ok(Self { source: Source::Message(bytes) })
    }

    /// The elements, in order.
    pub fn iter(&self) -> Elements<'a, T> {
        Elements { source: self.source }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        match self.source {
            Source::Message(bytes) => bytes.is_empty(),
            Source::Given(elements) => elements.is_empty(),
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        match self.source {
            Source::Message(bytes) => bytes.len(),
            Source::Given(elements) => elements.iter().map(Codec::encoded_len).sum(),
        }
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        match self.source {
            Source::Message(bytes) => writer.put(bytes),
            Source::Given(elements) => elements.iter().for_each(|element| element.put(writer)),
        }
    }
}

/// The elements of a [`List`].
#[derive(Clone)]
pub struct Elements<'a, T> {
    source: Source<'a, T>,
}

impl<'a, T: Element<'a>> Iterator for Elements<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self.source {
            Source::Message([]) => None,
            Source::Message(bytes) => {
                let mut reader = Reader::new(bytes);
                // All were read when the list was.
                let element = T::read(&mut reader).ok();
                self.source = Source::Message(reader.rest());
                element
            }
            Source::Given(elements) => {
                let (first, rest) = elements.split_first()?;
                self.source = Source::Given(rest);
                Some(*first)
            }
        }
    }
}

impl<'a, T: Element<'a>> Default for List<'a, T> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<'a, T: Element<'a>> PartialEq for List<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: Element<'a>> fmt::Debug for List<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
