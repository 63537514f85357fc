//! The daemon's JSON as text tables.

use serde_json::Value;

/// A column: its heading, and its cell of a row.
type Column = (&'static str, fn(&Value) -> String);

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// A time as `1.2 s`.
fn time(value: &Value) -> String {
    value.as_i64().map_or("-".to_owned(), |ms| format!("{:.1} s", ms as f64 / 1000.0))
}

fn station(value: &Value) -> String {
    format!("{} {}", text(&value["station"]), text(&value["tcp_port"]))
}

const PORTS: [Column; 11] = [
    ("port", |row| text(&row["port"])),
    ("interface", |row| text(&row["interface"])),
    ("role", |row| match (&row["draining"], &row["unfit"]) {
        (Value::Bool(true), _) => format!("{}, draining", text(&row["role"])),
        (_, Value::String(why)) => format!("{}: {why}", text(&row["role"])),
        _ if row["ifindex"].is_null() => format!("{}: no interface", text(&row["role"])),
        _ if row["role"] == "one-way" => "one-way, the neighbour does not hear this switch".to_owned(),
        _ if !row["loop"].is_null() => {
            let (end, port) = (text(&row["loop"]["switch_id"]), text(&row["loop"]["port"]));
            format!("{}, loop to port {port} of {end}", text(&row["role"]))
        }
        _ if row["role"] == "fabric" && row["withdrawn_routes"].as_u64() > Some(0) => {
            format!("fabric, does not reach {} stations", row["withdrawn_routes"])
        }
        _ if row["role"] == "fabric" && row["cannot_send"] == true => {
            "fabric, cannot send Hello messages".to_owned()
        }
        _ if row["role"] == "fabric" && row["neighbour_misses"] == true => {
            "fabric, loses frames to the neighbour".to_owned()
        }
        _ if row["role"] == "unheard" => "unheard, still delivers frames".to_owned(),
        _ => text(&row["role"]),
    }),
    ("way", |row| text(&row["way"])),
    ("neighbour", |row| text(&row["neighbour"]["switch_id"])),
    ("loss", |row| match row["hello_loss"].as_f64() {
        Some(share) => format!("{:.0} %", 100.0 * share),
        None => "-".to_owned(),
    }),
    ("mtu", |row| text(&row["mtu"])),
    ("received", |row| text(&row["received_frames"])),
    ("sent", |row| text(&row["sent_frames"])),
    ("dropped", |row| text(&row["dropped_frames"])),
    ("too long", |row| text(&row["too_long_frames"])),
];

const NEIGHBOURS: [Column; 8] = [
    ("switch", |row| text(&row["switch_id"])),
    ("remote port", |row| text(&row["port"])),
    ("tier", |row| match row["tier"].as_u64() {
        Some(0) => "-".to_owned(),
        _ => text(&row["tier"]),
    }),
    ("port", |row| text(&row["here"]["port"])),
    ("interface", |row| text(&row["here"]["interface"])),
    ("last hello", |row| format!("{} ago", time(&row["heard_ms"]))),
    ("hold time", |row| time(&row["hold_ms"])),
    ("signed", |row| row["key"].as_u64().map_or_else(|| "no".to_owned(), |key| format!("key {key}"))),
];

const HOSTS: [Column; 5] = [
    ("station", |row| text(&row["station"])),
    ("port", |row| text(&row["port"])),
    ("interface", |row| text(&row["interface"])),
    ("class", |row| text(&row["class"])),
    ("expires in", |row| time(&row["expires_ms"])),
];

const PATHS: [Column; 7] = [
    ("to", |row| station(&row["to"])),
    ("from", |row| station(&row["from"])),
    ("port", |row| text(&row["port"])),
    ("interface", |row| text(&row["interface"])),
    ("class", |row| text(&row["class"])),
    ("age", |row| time(&row["age_ms"])),
    ("expires in", |row| time(&row["expires_ms"])),
];

/// The strings of a list, or `-`.
fn list(value: &Value) -> String {
    let all: Vec<String> = value.as_array().into_iter().flatten().map(text).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(" ") }
}

const ROUTES: [Column; 5] = [
    ("station", |row| text(&row["station"])),
    ("from", |row| text(&row["from"])),
    ("leaf", |row| text(&row["leaf"])),
    ("ports", |row| list(&row["ports"])),
    ("withdrawn", |row| list(&row["withdrawn"])),
];

const LEAVES: [Column; 6] = [
    ("leaf", |row| text(&row["leaf"])),
    ("stations", |row| text(&row["stations"])),
    ("route", |row| match row["route"].as_str() {
        Some("own") => "this switch".to_owned(),
        Some("none") => "none: frames are dropped".to_owned(),
        _ => text(&row["route"]),
    }),
    ("ports", |row| list(&row["ports"])),
    ("weights", |row| list(&row["weights"])),
    ("ignored, not in fabric_ports", |row| list(&row["ignored"])),
];

const GATES: [Column; 6] = [
    ("port", |row| text(&row["port"])),
    ("interface", |row| text(&row["interface"])),
    ("gate", |row| text(&row["gate"])),
    ("direction", |row| text(&row["direction"])),
    ("flag", |row| text(&row["flag"])),
    ("peer", |row| text(&row["peer"])),
];

const FLOWS: [Column; 9] = [
    ("priority", |row| text(&row["priority"])),
    ("source", |row| text(&row["matches"]["source"])),
    ("destination", |row| text(&row["matches"]["destination"])),
    ("queue", |row| text(&row["action"]["queue"])),
    ("down", |row| text(&row["action"]["down"])),
    ("gate", |row| text(&row["action"]["to"]["way"]["gate"])),
    ("up", |row| text(&row["action"]["to"]["way"]["up"])),
    ("group", |row| text(&row["action"]["to"]["group"])),
    ("packets", |row| text(&row["packets"])),
];

/// The answer to `show`, as a table.
pub fn table(what: &str, answer: &Value) -> String {
    let (columns, rows): (&[Column], &Value) = match what {
        "ports" => (&PORTS, answer),
        "neighbours" => (&NEIGHBOURS, answer),
        "hosts" => (&HOSTS, &answer["hosts"]),
        "paths" => (&PATHS, &answer["paths"]),
        "routes" => (&ROUTES, &answer["routes"]),
        "leaves" => (&LEAVES, answer),
        "gates" => (&GATES, &answer["gates"]),
        "flows" => (&FLOWS, &answer["rules"]),
        _ => return pairs(answer),
    };
    let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
    let mut lines = vec![columns.iter().map(|(head, _)| (*head).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()));
    let mut shown = align(&lines);
    let total = answer["total"].as_u64().unwrap_or(0);
    if total > rows.len() as u64 {
        shown.push_str(&format!("\n{} of {total} shown; use --limit N for more", rows.len()));
    }
    shown
}

/// One name and value per line; names of nested values are joined by dots.
fn pairs(answer: &Value) -> String {
    fn flatten(prefix: &str, value: &Value, lines: &mut Vec<Vec<String>>) {
        match value {
            Value::Object(entries) => entries.iter().for_each(|(key, value)| {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(&name, value, lines);
            }),
            value => lines.push(vec![prefix.to_owned(), text(value)]),
        }
    }
    let mut lines = Vec::new();
    flatten("", answer, &mut lines);
    align(&lines)
}

fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let row = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(row).collect::<Vec<_>>().join("\n")
}

/// An event of `trace` as a line.
pub fn event(event: &Value) -> String {
    let seconds = event["time_ns"].as_u64().unwrap_or(0) as f64 / 1e9;
    if event["what"] == "lost" {
        return format!("{} events lost: the reader is too slow", text(&event["events"]));
    }
    let end = |side: &str, port: &str| match event[port].as_u64() {
        Some(1..) => format!("{} {}", text(&event[side]), text(&event[port])),
        _ => text(&event[side]),
    };
    format!(
        "{seconds:.6}  {:<14}  {} -> {}  {}  {} {:08x}",
        text(&event["what"]),
        end("src", "sport"),
        end("dst", "dport"),
        text(&event["interface"]),
        text(&event["frame"]),
        event["exploration"].as_u64().unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tables_are_aligned_and_say_what_is_left_out() {
        let answer = json!({"total": 3, "hosts": [
            {"station": "02:00:00:00:00:01", "port": 0, "interface": "eth1", "class": "attached", "expires_ms": 1234},
        ]});
        assert_eq!(
            table("hosts", &answer),
            "station            port  interface  class     expires in\n\
             02:00:00:00:00:01  0     eth1       attached  1.2 s\n1 of 3 shown; use --limit N for more"
        );
        let row = |route: &str, ports: &[&str]| json!({"leaf": "10.0.0.3", "stations": 2, "route": route, "ports": ports, "weights": [], "ignored": []});
        assert_eq!(
            table("leaves", &json!([row("kernel", &["a", "b"]), row("none", &[])])),
            "leaf      stations  route                     ports  weights  ignored, not in fabric_ports\n\
             10.0.0.3  2         kernel                    a b    -        -\n\
             10.0.0.3  2         none: frames are dropped  -      -        -"
        );
        assert_eq!(
            table("counters", &json!({"a": 1, "dropped": {"late_copy": 2}})),
            "a                  1\ndropped.late_copy  2"
        );
    }
}
