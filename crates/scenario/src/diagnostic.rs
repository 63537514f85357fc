//! Errors in a scenario as users see them: the message, the source line with a mark, the expected value, a
//! suggestion.

use std::cell::RefCell;
use std::fmt;

use crate::source::{Location, SET, Sources, Span};

/// One error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The problem.
    pub message: String,
    /// Where; `None` if the error has no position in the text.
    pub location: Option<Location>,
    /// The text next to the mark: the expected values.
    pub label: String,
    /// Suggestions.
    pub help: Vec<String>,
}

/// All errors of a scenario, in order of position. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    /// The problems.
    pub errors: Vec<Diagnostic>,
}

impl std::error::Error for Diagnostics {}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        let mut gutter = String::new();
        if let Some(Location { source, line, column, excerpt, width }) = &self.location {
            // An option is shown as it was typed; its line and column say nothing to its user.
            let is_option = source == SET;
            let head = if is_option && *line == 1 { format!("{SET} ") } else { String::new() };
            let (excerpt, at) = shorten(&format!("{head}{excerpt}"), *column + head.len());
            let before = " ".repeat(at - 1);
            let mark = "^".repeat((*width).min(excerpt.chars().count().saturating_sub(at - 1).max(1)));
            let number = if is_option { " ".to_owned() } else { line.to_string() };
            gutter = " ".repeat(number.len());
            if !is_option {
                write!(f, "\n{gutter}--> {source}:{line}:{column}")?;
            }
            write!(f, "\n{gutter} |\n{number} | {excerpt}\n{gutter} | {before}{mark}")?;
            if !self.label.is_empty() {
                write!(f, " {}", self.label)?;
            }
        } else if !self.label.is_empty() {
            write!(f, "\n = {}", self.label)?;
        }
        for help in &self.help {
            write!(f, "\n{gutter} = help: {help}")?;
        }
        Ok(())
    }
}

/// A long line cut around the column, and the column in the result.
fn shorten(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 120;
    let length = line.chars().count();
    if length <= WIDTH {
        return (line.to_owned(), column);
    }
    let first = column.saturating_sub(1 + WIDTH / 3);
    let cut: String = line.chars().skip(first).take(WIDTH).collect();
    let head = if first > 0 { "..." } else { "" };
    let tail = if first + WIDTH < length { "..." } else { "" };
    (format!("{head}{cut}{tail}"), column - first + head.len())
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

/// An error with spans instead of text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Problem {
    span: Option<Span>,
    message: String,
    label: String,
    help: Vec<String>,
}

impl Problem {
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into(), label: String::new(), help: Vec::new() }
    }

    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// Collects problems, so that one pass reports all of them. A problem found again at another point of a sweep
/// is reported once.
#[derive(Debug, Default)]
pub(crate) struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub(crate) fn add(&self, problem: Problem) {
        let mut known = self.0.borrow_mut();
        if !known.contains(&problem) {
            known.push(problem);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// `value` if there is no problem, else all problems in order of position.
    pub(crate) fn finish<T>(self, value: T, sources: &Sources) -> Result<T, Diagnostics> {
        let mut problems = self.0.into_inner();
        if problems.is_empty() {
            return Ok(value);
        }
        problems.sort_by_key(|problem| problem.span);
        let errors = problems.into_iter().map(|Problem { span, message, label, help }| Diagnostic {
            message,
            location: span.map(|span| sources.locate(span)),
            label,
            help,
        });
        Err(Diagnostics { errors: errors.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_the_line_the_mark_and_the_help() {
        let mut sources = Sources::default();
        sources.add("a.toml", "[traffic]\nlaod = 0.4\n");
        let problems = Problems::default();
        let problem = Problem::at(Span::new(0, 10..14), "unknown key `laod` in [traffic]");
        let problem = problem.label("did you mean `load`?").help("the keys are `load`");
        problems.add(problem.clone());
        problems.add(problem);
        let text = problems.finish((), &sources).unwrap_err().to_string();
        assert_eq!(
            text,
            "error: unknown key `laod` in [traffic]\n --> a.toml:2:1\n  |\n2 | laod = 0.4\n  | ^^^^ did you mean \
             `load`?\n  = help: the keys are `load`"
        );
    }

    #[test]
    fn an_option_is_shown_as_it_was_typed() {
        let mut sources = Sources::default();
        sources.add("a.toml", "");
        sources.add(SET, "traffic.laod=0.6");
        let problems = Problems::default();
        problems.add(Problem::at(Span::new(1, 8..12), "unknown key `laod`").label("did you mean `load`?"));
        let text = problems.finish((), &sources).unwrap_err().to_string();
        let shown = "  |\n  | --set traffic.laod=0.6\n  |               ^^^^ did you mean `load`?";
        assert_eq!(text, format!("error: unknown key `laod`\n{shown}"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let mut sources = Sources::default();
        let line = format!("list = [{}bad{}]", "1, ".repeat(200), ", 2".repeat(200));
        sources.add("a.toml", &line);
        let at = line.find("bad").unwrap();
        let problems = Problems::default();
        problems.add(Problem::at(Span::new(0, at..at + 3), "no"));
        let text = problems.finish((), &sources).unwrap_err().to_string();
        let lines: Vec<&str> = text.lines().collect();
        let mark = lines[4].find("^^^").unwrap();
        assert_eq!(&lines[3][mark..mark + 3], "bad");
        assert!(lines[3].len() < 140);
    }
}
