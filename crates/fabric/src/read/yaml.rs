//! YAML as a tree of texts, lists and tables with positions.
//!
//! Without anchors, aliases and tags, so a tree is never larger than its text. All scalars stay text: the reader of a
//! key knows which kind of value it expects.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::{ErrorKind, ReadError};
use crate::visible;

/// Levels of nested lists and tables.
const DEEPEST: usize = 64;

/// A value with its position.
#[derive(Debug)]
pub(super) struct Yaml<'a> {
    /// The byte of the text where it begins.
    pub byte: usize,
    pub kind: Kind<'a>,
}

/// The kind of a value.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// Nothing: an empty value, `~` or `null`.
    Null,
    Text(Cow<'a, str>),
    List(Vec<Yaml<'a>>),
    /// In the order of the text; no key twice.
    Table(Vec<Entry<'a>>),
}

/// A key of a table with its value.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub key: Cow<'a, str>,
    /// The byte of the key.
    pub byte: usize,
    pub value: Yaml<'a>,
}

impl Kind<'_> {
    /// The kind in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text(_) => "a single value",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// The only document of a text.
pub(super) fn parse(text: &str) -> Result<Yaml<'_>, ReadError> {
    let mut loader = Loader { text, parser: Parser::new_from_str(text), at: (0, 0) };
    let mut document = None;
    while let Some((event, span)) = loader.next()? {
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            _ if document.is_some() => {
                return Err(loader.error("a second document begins here: expected one", &span));
            }
            event => document = Some(loader.value(event, &span, 0)?),
        }
    }
    document.ok_or_else(|| ErrorKind::Missing("the table of the infrastructure").into())
}

/// Makes a tree of the parser's events.
struct Loader<'a> {
    text: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    /// A position in the text, as its number of characters and of bytes: the last one asked for.
    at: (usize, usize),
}

impl<'a> Loader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, ReadError> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(error)) => Err(self.syntax(&error)),
        }
    }

    fn syntax(&mut self, error: &ScanError) -> ReadError {
        let byte = self.byte(*error.marker());
        ReadError::from(ErrorKind::Syntax(visible(error.info()))).at(self.text, byte)
    }

    fn error(&mut self, why: &str, span: &Span) -> ReadError {
        let byte = self.byte(span.start);
        ReadError::from(ErrorKind::Syntax(why.to_owned())).at(self.text, byte)
    }

    /// The byte of a position that the parser counts in characters.
    fn byte(&mut self, marker: Marker) -> usize {
        let (chars, bytes) = self.at;
        let wanted = marker.index();
        let moved = if wanted >= chars {
            let rest = &self.text[bytes..];
            bytes + rest.char_indices().nth(wanted - chars).map_or(rest.len(), |(byte, _)| byte)
        } else {
            let back = self.text[..bytes].char_indices().rev().nth(chars - wanted - 1);
            back.map_or(0, |(byte, _)| byte)
        };
        if moved < self.text.len() {
            self.at = (wanted, moved);
        }
        moved
    }

    /// The value that begins with `event`.
    fn value(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Yaml<'a>, ReadError> {
        if depth > DEEPEST {
            return Err(self.error(&format!("more than {DEEPEST} levels of lists and tables"), span));
        }
        let byte = self.byte(span.start);
        let kind = match event {
            Event::Scalar(text, style, 0, None) => scalar(text, style),
            Event::SequenceStart(0, None) => self.list(depth)?,
            Event::MappingStart(0, None) => self.table(depth)?,
            Event::Alias(_) => return Err(self.error("an alias (`*`): write the value out", span)),
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return Err(self.error("a tag (`!`) is not supported: write the plain value", span));
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err(self
                    .error("an anchor (`&`) is not supported: write the value out where it is used", span));
            }
            _ => return Err(self.error("expected a value", span)),
        };
        Ok(Yaml { byte, kind })
    }

    fn list(&mut self, depth: usize) -> Result<Kind<'a>, ReadError> {
        let mut items = Vec::new();
        while let Some((event, span)) = self.next()? {
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            items.push(self.value(event, &span, depth + 1)?);
        }
        Ok(Kind::List(items))
    }

    fn table(&mut self, depth: usize) -> Result<Kind<'a>, ReadError> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut keys = std::collections::BTreeSet::new();
        while let Some((event, span)) = self.next()? {
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let at_key = span;
            let key = match self.value(event, &span, depth + 1)? {
                Yaml { byte, kind: Kind::Text(key) } => (key, byte),
                _ => return Err(self.error("expected a key, which is a single value", &at_key)),
            };
            let (key, byte) = key;
            if !keys.insert(key.clone()) {
                return Err(self.error(&format!("`{}` is given twice", visible(&key)), &at_key));
            }
            let Some((event, span)) = self.next()? else { break };
            let value = self.value(event, &span, depth + 1)?;
            entries.push(Entry { key, byte, value });
        }
        Ok(Kind::Table(entries))
    }
}

/// A plain scalar may stand for nothing.
fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Kind<'_> {
    match style {
        ScalarStyle::Plain if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") => Kind::Null,
        _ => Kind::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn values_have_the_byte_where_they_begin() {
        let text = "# übung\r\nname: ü\r\nlist:\r\n- {a: '1', b: ~}\r\n- \"é\"\r\n";
        let Kind::Table(entries) = parse(text).unwrap().kind else { panic!("no table") };
        let at = |byte: usize| text[byte..].chars().next().unwrap();
        assert_eq!(entries.iter().map(|entry| at(entry.byte)).collect::<String>(), "nl");
        assert!(
            matches!(&entries[0].value, Yaml { byte, kind: Kind::Text(name) } if name == "ü" && at(*byte) == 'ü')
        );
        let Kind::List(items) = &entries[1].value.kind else { panic!("no list") };
        assert_eq!(items.iter().map(|item| at(item.byte)).collect::<String>(), "{\"");
        let Kind::Table(inner) = &items[0].kind else { panic!("no table") };
        assert!(
            matches!((&inner[0].value.kind, &inner[1].value.kind), (Kind::Text(one), Kind::Null) if one == "1")
        );
    }

    #[test]
    fn errors_name_the_line_and_what_to_write() {
        for (text, expected) in [
            ("", "the table of the infrastructure is missing"),
            ("a: 1\na: 2\n", "line 2, column 1: `a` is given twice"),
            ("a: &x 1\nb: 2\n", "line 1, column 4: an anchor (`&`) is not supported"),
            ("a: !!int 1\n", "line 1, column 4: a tag (`!`) is not supported"),
            ("a: 1\n---\nb: 2\n", "line 3, column 1: a second document begins here"),
            ("[a]: 1\n", "line 1, column 1: expected a key"),
            ("a: [1\nb: 2\n", "line "),
        ] {
            assert!(error(text).contains(expected), "{}\nexpected: {expected}", error(text));
        }
        assert!(error(&"[".repeat(200)).contains("more than 64 levels"));
        assert!(error(&"[".repeat(5_000)).contains("recursion limit exceeded"), "by the parser");
        assert!(error(&"- ".repeat(5_000)).contains("more than 64 levels"));
    }
}
