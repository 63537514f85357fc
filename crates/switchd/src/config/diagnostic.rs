//! Configuration errors as shown to users: the message, the line with the position marked, the values expected
//! there and the fix.

use std::fmt;
use std::ops::Range;

use weft_fabric::nearest;

/// One error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    span: Option<Range<usize>>,
    message: String,
    label: String,
}

impl Problem {
    /// An error in the bytes `span` of the text; `label` is shown next to the mark.
    pub fn at(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into(), label: label.into() }
    }

    /// An error without a position in the text.
    pub fn whole(message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { span: None, message: message.into(), label: label.into() }
    }
}

/// All errors in a text, in the order of the text. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problems {
    name: String,
    text: String,
    problems: Vec<Problem>,
}

impl Problems {
    /// The problems found in `text`; messages show `name` as its file name.
    pub fn new(name: &str, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.clone().map_or(usize::MAX, |span| span.start));
        Self { name: name.to_owned(), text: text.to_owned(), problems }
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, problem: &Problem) -> fmt::Result {
        let Problem { span, message, label } = problem;
        write!(f, "error: {message}")?;
        let Some(span) = span else {
            return if label.is_empty() { Ok(()) } else { write!(f, "\n = help: {label}") };
        };
        let at = (0..=span.start.min(self.text.len())).rev().find(|at| self.text.is_char_boundary(*at));
        let at = at.unwrap_or(0);
        let start = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |end| at + end);
        let (line, column) =
            (self.text[..start].matches('\n').count() + 1, self.text[start..at].chars().count());
        let excerpt =
            mask(&self.text[..start], self.text[start..end].trim_end_matches('\r')).replace('\t', " ");
        let marked = self.text.get(at..span.end.clamp(at, end)).map_or(0, |marked| marked.chars().count());
        let gutter = " ".repeat(line.to_string().len());
        write!(f, "\n{gutter}--> {}:{line}:{}\n{gutter} |\n{line} | {excerpt}", self.name, column + 1)?;
        write!(f, "\n{gutter} | {}{}", " ".repeat(column), "^".repeat(marked.max(1)))?;
        if label.is_empty() { Ok(()) } else { write!(f, " {label}") }
    }
}

/// A line with secret keys masked: an invalid key is often a valid one misspelt, and logs are kept. `before` is the
/// text above it, since a list of keys may span several lines.
fn mask(before: &str, line: &str) -> String {
    let hide =
        |text: &str| -> String { text.chars().map(|c| if c.is_alphanumeric() { '*' } else { c }).collect() };
    if let Some((name, value)) = line.split_once('=').filter(|(name, _)| is_secret(name)) {
        return format!("{name}={}", hide(value));
    }
    if let Some(at) = line.find("key").map(|at| at + "key".len()).filter(|_| is_secret(line)) {
        return format!("{}{}", &line[..at], hide(&line[at..]));
    }
    let above = before.lines().rev().find_map(|line| line.split_once('='));
    let is_in_list = !line.contains('=') && !line.trim_start().starts_with('[');
    match above.is_some_and(|(name, _)| is_secret(name)) && is_in_list {
        true => hide(line),
        false => line.to_owned(),
    }
}

/// Whether this setting holds a key itself, not the name of a key file.
fn is_secret(name: &str) -> bool {
    name.contains("key") && !name.contains("key_file")
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            self.show(f, problem)?;
        }
        Ok(())
    }
}

/// "did you mean ...", or all candidates if none is similar.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, candidates.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => {
            let all: Vec<String> = candidates.into_iter().map(|name| format!("`{name}`")).collect();
            format!("expected one of {}", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_repeated() {
        let lines = [
            ("hello_key = \"00ffG\"", "hello_key = \"*****\""),
            ("helo_key=\"00ff", "helo_key=\"****"),
            ("hello_key 00ff", "hello_key ****"),
            ("hello_key_file = \"a.key\"", "hello_key_file = \"a.key\""),
            ("ports = [\"a\"]", "ports = [\"a\"]"),
            ("hello_keys = [\"00ff\"]", "hello_keys = [\"****\"]"),
        ];
        for (line, shown) in lines {
            assert_eq!(mask("", line), shown);
        }
        let list = "hello_keys = [\n  \"00ff\",\n";
        assert_eq!(mask(list, "  \"11ee\","), "  \"****\",");
        assert_eq!(mask(list, "]"), "]");
        assert_eq!(mask("hello_key = \"00\"\n", "[hello]"), "[hello]");
        assert_eq!(mask("hello_key_file = \"k\"\n", "mode"), "mode");
    }

    #[test]
    fn a_message_shows_the_line_the_mark_and_what_was_expected() {
        let text = "name = \"s1\"\r\nprots = 1\r\n";
        let problem = Problem::at(13..18, "unknown key `prots`", "did you mean `ports`?");
        let whole = Problem::whole("no `mode`", "set mode = \"tcp-path\"");
        assert_eq!(
            Problems::new("a.toml", text, vec![whole, problem]).to_string(),
            "error: unknown key `prots`\n --> a.toml:2:1\n  |\n2 | prots = 1\n  | ^^^^^ did you mean `ports`?\n\n\
             error: no `mode`\n = help: set mode = \"tcp-path\""
        );
    }
}
