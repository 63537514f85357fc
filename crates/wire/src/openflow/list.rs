//! [`List`]: consecutive elements in a message.

use core::fmt;

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// Reading and writing of an element. Sealed.
pub trait Codec<'a>: Copy + PartialEq + fmt::Debug {
    /// Its length.
    fn encoded_len(&self) -> usize;
    /// Reads the next one.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>;
    /// Writes it.
    fn put(&self, writer: &mut Writer);
}

/// The types of list elements: actions, ports, rule statistics.
pub trait Element<'a>: Codec<'a> {}

impl<'a, T: Codec<'a>> Element<'a> for T {}

/// The elements of a message, all validated, or elements to write.
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
    /// A list to write.
    pub const fn new(elements: &'a [T]) -> Self {
        Self { source: Source::Given(elements) }
    }

    /// The remaining elements of `reader`.
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

    /// Whether there are none.
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
                // All were validated with the list.
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
