//! The origin of a piece of text: the scenario file, or a `--set` on the command line. Every value keeps its
//! position, so an error points at the user's text.

/// The name of the text of a `--set`.
pub(crate) const SET: &str = "--set";

/// A range of one of the [`Sources`], in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Span {
    pub(crate) source: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(source: u32, range: std::ops::Range<usize>) -> Self {
        Self { source, start: range.start, end: range.end }
    }
}

/// A text and its name.
#[derive(Clone, PartialEq, Debug)]
struct Source {
    name: String,
    text: String,
}

/// All texts of a scenario: the file, then each `--set`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

/// A span as line and column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The name of the file, or `--set`.
    pub source: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The line itself.
    pub excerpt: String,
    /// Number of characters marked, at least 1.
    pub width: usize,
}

impl Sources {
    /// Adds a text and returns its number.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> u32 {
        self.0.push(Source { name: name.to_owned(), text: text.to_owned() });
        self.0.len() as u32 - 1
    }

    pub(crate) fn text(&self, source: u32) -> &str {
        self.0.get(source as usize).map_or("", |source| &source.text)
    }

    pub(crate) fn name(&self, source: u32) -> &str {
        self.0.get(source as usize).map_or("", |source| &source.name)
    }

    /// Line, column and text of a span; a span over several lines is cut at the end of its first.
    pub(crate) fn locate(&self, span: Span) -> Location {
        let text = self.text(span.source);
        let whole = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (whole(span.start), whole(span.end));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let excerpt = text[line_start..line_end].trim_end_matches('\r');
        let marked = text[start..end.clamp(start, line_end)].trim_end_matches(['\r', ' ']);
        Location {
            source: self.name(span.source).to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            excerpt: excerpt.replace('\t', " "),
            width: marked.chars().count().max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let mut sources = Sources::default();
        sources.add("a.toml", "x = 1\r\nµs = \"25 µs\"  \nlast");
        let locate = |start, end| sources.locate(Span::new(0, start..end));
        let place = |start, end| {
            let location = locate(start, end);
            (location.line, location.column, location.width)
        };
        assert_eq!(place(0, 1), (1, 1, 1));
        assert_eq!(place(13, 21), (2, 6, 7));
        assert_eq!(place(13, 28), (2, 6, 7), "a span ends with its line");
        assert_eq!(place(999, 2_000), (3, 5, 1));
        assert_eq!(place(8, 8), (2, 1, 1), "the middle of a character is its start");
        assert_eq!(locate(0, 1).excerpt, "x = 1");
    }
}
