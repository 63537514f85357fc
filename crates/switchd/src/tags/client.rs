//! The commands of `weftctl` for gates and flows.

use std::io::Read;
use std::path::Path;

use hyper::Method;
use serde::Serialize;
use serde_json::{Value, json};
use weft_fabric::gates::Gate;
use weft_switching::tag_forward::{FlowChange, FlowFilter, Verb, parse_change};

use super::command::TagCommand;
use crate::bodies::{CountedRule, FlowChanges, Flows, GateChange, Group, PortName};
use crate::ctl::{Client, ClientError};

/// Maximum size of a file of changes, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The output: lines of text, or JSON.
pub struct Output<'a> {
    /// Whether it is JSON.
    pub is_json: bool,
    /// Prints a line.
    pub print: &'a dyn Fn(&str),
}

impl Output<'_> {
    /// Prints that a change is done.
    fn done(&self, answer: &Value, text: &str) {
        if self.is_json { (self.print)(&answer.to_string()) } else { (self.print)(text) }
    }

    /// Prints a table, one line per row.
    fn lines<T: Serialize>(&self, answer: &T, lines: impl Iterator<Item = String>) {
        if self.is_json {
            (self.print)(&json!(answer).to_string());
        } else {
            lines.for_each(|line| (self.print)(&line));
        }
    }
}

/// Runs a command.
///
/// # Errors
/// [`ClientError`].
pub async fn run(client: &Client, command: TagCommand, output: &Output<'_>) -> Result<(), ClientError> {
    match command {
        TagCommand::SetGate { port, gate, direction, flag } => {
            let direction = direction.direction(flag);
            let change = GateChange {
                port: Some(PortName::Text(port.clone())),
                gate: Some(Gate(gate)),
                direction: Some(direction),
                flag,
                ..GateChange::default()
            };
            let answer = client.tell(Method::PATCH, "/v1/gates", &change).await?;
            output.done(&answer, &format!("{port} has gate {gate}, {direction}"));
        }
        TagCommand::SetDivisors { down, up } => {
            let change = GateChange { down_divisor: down, up_divisor: up, ..GateChange::default() };
            let answer = client.tell(Method::PATCH, "/v1/gates", &change).await?;
            output.done(&answer, "divisors set");
        }
        TagCommand::DelGate { port } => {
            let answer = client.ask(Method::DELETE, &format!("/v1/gates/{port}")).await?;
            output.done(&answer, &format!("removed the gate of {port}"));
        }
        TagCommand::DumpGates => {
            let answer: Value = client.get("/v1/gates").await?;
            let [width, ethertype, down, up] =
                texts(&answer, ["width", "ethertype", "down_divisor", "up_divisor"]);
            let head = format!("width={width},ethertype={ethertype},down_divisor={down},up_divisor={up}");
            let gates = answer["gates"].as_array().into_iter().flatten();
            output.lines(&answer, std::iter::once(head).chain(gates.map(gate_line)));
        }
        TagCommand::AddFlow { flow } => change(client, output, Verb::Add, &flow).await?,
        TagCommand::ModFlow { flow } => change(client, output, Verb::Modify, &flow).await?,
        TagCommand::AddGroup { group } => change(client, output, Verb::Add, &group).await?,
        TagCommand::DelGroup { id } => {
            change(client, output, Verb::Delete, &format!("group_id={id}")).await?
        }
        TagCommand::AddFlows { file } => {
            let (name, text) = read(&file)?;
            let (changes, lines) = changes_of(&name, &text)?;
            let count = changes.len();
            let place = |at: usize| lines.get(at).map(|line| format!("{name}:{line}: ")).unwrap_or_default();
            let answer = post(client, changes, place).await?;
            output.done(&answer, &format!("{count} changes"));
        }
        TagCommand::DelFlow { flow: Some(flow), all: false } => {
            change(client, output, Verb::Delete, &flow).await?;
        }
        TagCommand::DelFlow { flow, .. } => {
            let remove =
                |rule: CountedRule| FlowChange::Remove { priority: rule.priority, matches: rule.matches };
            let chosen = flows(client, flow.as_deref()).await?.rules;
            let changes: Vec<FlowChange> = chosen.into_iter().map(remove).collect();
            let count = changes.len();
            let answer = post(client, changes, |_| String::new()).await?;
            output.done(&answer, &format!("removed {count} rules"));
        }
        TagCommand::DumpFlows { flow } => {
            let chosen = flows(client, flow.as_deref()).await?;
            output.lines(&chosen, chosen.rules.iter().map(flow_line));
        }
        TagCommand::DumpGroups => {
            let answer: Flows = client.get("/v1/flows?limit=0").await?;
            let lines = answer.groups.iter().map(group_line);
            output.lines(&answer.groups, lines);
        }
    }
    Ok(())
}

/// A rule in the format of `add-flows`.
fn flow_line(rule: &CountedRule) -> String {
    format!("n_packets={}, n_bytes={}, {}", rule.packets, rule.bytes, rule.rule())
}

/// A group in the format of `add-flows`.
fn group_line(group: &Group) -> String {
    let shown = FlowChange::SetGroup { id: group.id, ways: group.ways.clone() }.to_string();
    shown.strip_prefix("add ").unwrap_or(&shown).to_owned()
}

/// Fields of an answer, which a newer daemon may have more of.
fn texts<const N: usize>(answer: &Value, names: [&str; N]) -> [String; N] {
    names.map(|name| answer[name].as_str().map_or_else(|| answer[name].to_string(), str::to_owned))
}

fn gate_line(of: &Value) -> String {
    let [port, interface, gate, direction] = texts(of, ["port", "interface", "gate", "direction"]);
    let [flag, peer] = ["flag", "peer"].map(|name| match of[name].as_str() {
        None | Some("") => String::new(),
        Some(text) => format!(",{name}={text}"),
    });
    format!("port={port}({interface}),gate={gate},direction={direction}{flag}{peer}")
}

fn input(error: impl ToString) -> ClientError {
    ClientError::Input(error.to_string())
}

/// The rules selected by a filter, and all groups.
async fn flows(client: &Client, filter: Option<&str>) -> Result<Flows, ClientError> {
    let filter = FlowFilter::parse(filter.unwrap_or_default()).map_err(input)?;
    let mut flows: Flows = client.get(&format!("/v1/flows?limit={}", u32::MAX)).await?;
    flows.rules.retain(|rule| filter.selects(&rule.rule()));
    flows.total = flows.rules.len();
    Ok(flows)
}

/// Applies one change.
async fn change(client: &Client, output: &Output<'_>, verb: Verb, text: &str) -> Result<(), ClientError> {
    let change = parse_change(verb, text).map_err(input)?;
    let shown = change.to_string();
    let answer = post(client, vec![change], |_| String::new()).await?;
    output.done(&answer, &shown);
    Ok(())
}

/// Sends changes; `place` gives the position of a refused one.
async fn post(
    client: &Client,
    changes: Vec<FlowChange>,
    place: impl Fn(usize) -> String,
) -> Result<Value, ClientError> {
    let sent = client.tell(Method::POST, "/v1/flows", &FlowChanges { changes }).await;
    let answer = sent.map_err(|error| match error {
        ClientError::Refused { why, at: Some(at), is_wrong } => {
            let why = why.strip_prefix(&format!("change {at}: ")).unwrap_or(&why);
            ClientError::Refused { why: format!("{}{why}", place(at)), at: Some(at), is_wrong }
        }
        other => other,
    })?;
    for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let placed = warning.strip_prefix("change ").and_then(|rest| rest.split_once(": "));
        match placed.and_then(|(at, why)| Some((at.parse().ok()?, why))) {
            Some((at, why)) => eprintln!("warning: {}{why}", place(at)),
            None => eprintln!("warning: {warning}"),
        }
    }
    Ok(answer)
}

/// The name, for messages, and the contents of a file.
fn read(file: &Path) -> Result<(String, String), ClientError> {
    let is_standard = file == Path::new("-");
    let name = if is_standard { "standard input".to_owned() } else { file.display().to_string() };
    let failed = |error| input(format!("cannot read {name}: {error}"));
    let from: Box<dyn Read> = match is_standard {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(file).map_err(failed)?),
    };
    let mut text = String::new();
    from.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(input(format!("{name} is larger than {MOST_BYTES} bytes: split it")));
    }
    Ok((name, text))
}

/// The changes in a text, and their line numbers.
fn changes_of(name: &str, text: &str) -> Result<(Vec<FlowChange>, Vec<usize>), ClientError> {
    let (mut changes, mut lines) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (verb, rest) = Verb::split(line);
        let change = parse_change(verb, rest).map_err(|error| input(format!("{name}:{number}: {error}")))?;
        changes.push(change);
        lines.push(number);
    }
    Ok((changes, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_change_a_line_and_a_wrong_one_is_named_by_its_number() {
        let text = "# rules of es1\n\ngroup_id=3,bucket=gate:48,up:48 # over cs2\n  \
                    ip_dst=10.0.0.1 actions=down:2,group:3\ndelete ip_dst=10.0.0.2\n";
        let (changes, lines) = changes_of("f", text).unwrap();
        assert_eq!((changes.len(), lines), (3, vec![3, 4, 5]));
        let error = changes_of("f", &format!("{text}ip_dst=10.0.0.3\n")).unwrap_err();
        assert!(error.to_string().starts_with("f:6: missing actions"), "{error}");
    }

    #[test]
    fn what_is_dumped_is_read_again() {
        let (changes, _) = changes_of("f", "group_id=3,type=select,bucket=gate:48,up:48").unwrap();
        let FlowChange::SetGroup { id, ways } = changes[0].clone() else { panic!("{changes:?}") };
        assert_eq!(changes_of("f", &group_line(&Group { id, ways })).unwrap().0, changes);
        let (changes, _) = changes_of("f", "priority=7,ip_dst=10.0.0.1 actions=down:2,group:3").unwrap();
        let FlowChange::Add(rule) = changes[0] else { panic!("{changes:?}") };
        let counted =
            CountedRule { priority: 7, matches: rule.matches, action: rule.action, packets: 3, bytes: 300 };
        assert_eq!(changes_of("f", &flow_line(&counted)).unwrap().0, changes);
        let gate =
            json!({"port": 1, "interface": "a", "gate": 100, "direction": "up", "flag": null, "new": 5});
        assert_eq!(gate_line(&gate), "port=1(a),gate=100,direction=up");
    }
}
