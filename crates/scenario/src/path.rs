//! A key of the whole scenario, such as `traffic.load` or `traffic.long.flows`, as in `--set` and `[sweep]`.
//! In a list of tables, an index from 0 or the `class` of a traffic group selects the table; with a single
//! table neither is needed.

use crate::diagnostic::Problem;
use crate::nearest::list;
use crate::source::Span;
use crate::tree::{Node, Table, Value};

/// Sets the key `path` of `table` to `node`; `span` is the position of the path.
pub(crate) fn set(table: &mut Table, path: &str, span: Span, node: &Node) -> Result<(), Problem> {
    let segments: Vec<&str> = path.split('.').collect();
    if segments.iter().any(|segment| segment.trim().is_empty()) {
        let problem = Problem::at(span, format!("`{path}` is not a key of a scenario"));
        return Err(problem.label("expected a section and a key, such as `traffic.load`"));
    }
    set_in(table, &segments, &mut String::new(), span, node)
}

fn set_in(
    table: &mut Table,
    path: &[&str],
    done: &mut String,
    span: Span,
    node: &Node,
) -> Result<(), Problem> {
    let (first, rest) = (path[0], &path[1..]);
    if rest.is_empty() {
        table.set(first, span, node.clone());
        return Ok(());
    }
    if !done.is_empty() {
        done.push('.');
    }
    done.push_str(first);
    let Some(entry) = table.0.iter_mut().find(|entry| entry.key == first) else {
        let mut inner = Table::default();
        set_in(&mut inner, rest, done, span, node)?;
        table.set(first, span, Node { value: Value::Table(inner), span });
        return Ok(());
    };
    set_in_node(&mut entry.node, rest, done, span, node)
}

fn set_in_node(
    at: &mut Node,
    path: &[&str],
    done: &mut String,
    span: Span,
    node: &Node,
) -> Result<(), Problem> {
    match &mut at.value {
        Value::Table(table) => set_in(table, path, done, span, node),
        Value::List(nodes) => {
            let (chosen, rest) = choose(nodes, path, done, span)?;
            if rest.is_empty() {
                nodes[chosen] = node.clone();
                return Ok(());
            }
            if rest.len() < path.len() {
                done.push('.');
                done.push_str(path[0]);
            }
            set_in_node(&mut nodes[chosen], rest, done, span, node)
        }
        Value::Text(_) if path.len() == 1 => Err(Problem::at(span, format!("`{done}` is {}", at.describe()))
            .label(format!("it has no `{}`; set `{done}` as a whole", path[0]))),
        _ => Err(Problem::at(span, format!("`{done}` is {}", at.describe()))
            .label(format!("it has no `{}`", path[0]))),
    }
}

/// The element of a list that a path selects, and the path within it.
fn choose<'p>(
    nodes: &[Node],
    path: &'p [&'p str],
    done: &str,
    span: Span,
) -> Result<(usize, &'p [&'p str]), Problem> {
    let class = |node: &Node| match &node.value {
        Value::Table(table) => match table.get("class").map(|node| &node.value) {
            Some(Value::Text(class)) => Some(class.clone()),
            _ => None,
        },
        _ => None,
    };
    let first = path[0];
    if let Ok(index) = first.parse::<usize>() {
        if index < nodes.len() {
            return Ok((index, &path[1..]));
        }
        let problem = Problem::at(span, format!("there is no `{done}.{index}`"));
        return Err(problem.label(match nodes.len() {
            0 => format!("`{done}` is empty"),
            length => format!("expected a number from 0 to {}", length - 1),
        }));
    }
    let classes: Vec<Option<String>> = nodes.iter().map(class).collect();
    let mut named = (0..nodes.len()).filter(|at| classes[*at].as_deref() == Some(first));
    if let (Some(at), None) = (named.next(), named.next()) {
        return Ok((at, &path[1..]));
    }
    if nodes.len() == 1 && matches!(nodes[0].value, Value::Table(_)) {
        return Ok((0, path));
    }
    let rest = path.join(".");
    let examples = classes.iter().enumerate().map(|(at, class)| match class {
        Some(class) => format!("{done}.{class}.{rest}"),
        None => format!("{done}.{at}.{rest}"),
    });
    let examples: Vec<String> = examples.collect();
    let problem =
        Problem::at(span, format!("`{done}.{rest}` is ambiguous: there are {} tables", nodes.len()));
    Err(problem.label(format!("expected one of {}", list(examples.iter().map(String::as_str)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Problems;
    use crate::tree::read;

    fn after(text: &str, path: &str) -> Result<serde_json::Value, String> {
        let problems = Problems::default();
        let mut table = read(text, 0, &problems);
        let node = Node { value: Value::Integer(7), span: Span::default() };
        set(&mut table, path, Span::default(), &node).map_err(|problem| format!("{problem:?}"))?;
        Ok(Node { value: Value::Table(table), span: Span::default() }.to_json())
    }

    #[test]
    fn a_path_goes_through_tables_and_lists() {
        let groups = "[[traffic]]\nclass = \"short\"\n[[traffic]]\nclass = \"long\"\n";
        for (text, path, expected) in [
            ("", "traffic.load", serde_json::json!({"traffic": {"load": 7}})),
            ("[a]\nb = 1", "a.b", serde_json::json!({"a": {"b": 7}})),
            ("a = { b = { c = 1 } }", "a.b.c", serde_json::json!({"a": {"b": {"c": 7}}})),
            (
                groups,
                "traffic.long.flows",
                serde_json::json!({"traffic": [
                {"class": "short"}, {"class": "long", "flows": 7}]}),
            ),
            (
                groups,
                "traffic.0.flows",
                serde_json::json!({"traffic": [
                {"class": "short", "flows": 7}, {"class": "long"}]}),
            ),
            ("[[traffic]]\n", "traffic.load", serde_json::json!({"traffic": [{"load": 7}]})),
            ("a = [1, 2]", "a.1", serde_json::json!({"a": [1, 7]})),
        ] {
            assert_eq!(after(text, path), Ok(expected), "{text} {path}");
        }
        for (path, part) in [
            ("traffic.load", "traffic.short.load`, `traffic.long.load"),
            ("traffic.2.load", "from 0 to 1"),
            ("traffic..load", "such as `traffic.load`"),
            ("", "such as `traffic.load`"),
        ] {
            let error = after(groups, path).unwrap_err();
            assert!(error.contains(part), "{path}: {error}");
        }
        assert!(after("a = 1", "a.b").unwrap_err().contains("it has no `b`"));
    }
}
