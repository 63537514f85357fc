//! GraphML (graphml.graphdrawing.org).

use std::fmt::Write;

use crate::read::attributes::{BACK, FORTH, LinkAttributes};
use crate::{Fabric, Link, Role};

/// The attributes of nodes.
const NODE: [&str; 3] = ["role", "tier", "pod"];

/// The fabric as undirected GraphML, which NetworkX and yEd read. An asymmetric link has `rate_back` etc.; a
/// queue with several classes is a JSON object.
///
/// # Errors
/// The name of a node or the fabric that XML cannot represent.
pub fn graphml(fabric: &Fabric) -> Result<String, String> {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    let of_edges = || FORTH.all().into_iter().chain(BACK.all()).chain(["up"]);
    let declared = NODE.map(|name| ("node", name)).into_iter().chain(of_edges().map(|name| ("edge", name)));
    for (of, name) in declared.chain([("graph", "name")]) {
        let kind = match name {
            "tier" | "pod" => "long",
            "up" => "boolean",
            _ => "string",
        };
        line(
            &mut out,
            format_args!("  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"),
        );
    }
    line(&mut out, format_args!("  <graph edgedefault=\"undirected\">"));
    data(&mut out, "name", &escaped(fabric.name())?);
    for node in fabric.nodes() {
        line(&mut out, format_args!("    <node id=\"{}\">", escaped(&node.name)?));
        let role = match node.role {
            Role::Host => "host",
            Role::Switch => "switch",
        };
        data(&mut out, "role", role);
        data(&mut out, "tier", &node.tier.to_string());
        if let Some(pod) = node.pod {
            data(&mut out, "pod", &pod.to_string());
        }
        line(&mut out, format_args!("    </node>"));
    }
    for cable in fabric.links().chunks(2) {
        edge(&mut out, fabric, cable)?;
    }
    out.push_str("  </graph>\n</graphml>\n");
    Ok(out)
}

fn edge(out: &mut String, fabric: &Fabric, cable: &[Link]) -> Result<(), String> {
    let name = |id| escaped(&fabric.node(id).name);
    let (source, target) = (name(cable[0].from)?, name(cable[0].to)?);
    line(out, format_args!("    <edge source=\"{source}\" target=\"{target}\">"));
    let (forth, back) = (cable[0].spec(), cable[1].spec());
    let ways = [(FORTH, LinkAttributes::whole(&forth)), (BACK, LinkAttributes::difference(&back, &forth))];
    for (names, attributes) in ways {
        for (name, text) in names.all().into_iter().zip(attributes.to_text()) {
            if let Some(text) = text {
                data(out, name, &escaped(&text)?);
            }
        }
    }
    if !cable[0].up {
        data(out, "up", "false");
    }
    line(out, format_args!("    </edge>"));
    Ok(())
}

fn data(out: &mut String, key: &str, escaped: &str) {
    line(out, format_args!("      <data key=\"{key}\">{escaped}</data>"));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}

/// Escapes a text for XML, in quotes and between tags.
fn escaped(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                write!(out, "&#{};", u32::from(letter)).expect("writing to a string cannot fail");
            }
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                return Err(format!(
                    "GraphML cannot represent the name `{}`: use TOML or JSON",
                    text.escape_debug()
                ));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}
