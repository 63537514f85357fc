//! docs/transport.md has the parameters of the protocols with their defaults, ranges and meanings.

use weft_transport::profile::PROFILES;
use weft_transport::{Config, Idle, Protocol, ProtocolConfig as _};
use weft_units::{ParamInfo, ParamKind};

/// The rows of parameters in a section of the page.
fn rows(title: &str) -> Vec<&'static str> {
    let (_, section) = include_str!("../../../../docs/transport.md")
        .split_once(&format!("\n## {title}\n"))
        .expect("a section");
    let (section, _) = section.split_once("\n## ").unwrap_or((section, ""));
    section.lines().filter(|line| line.starts_with("| `")).collect()
}

/// The row of a parameter; of RoCE's, a source follows.
fn row(param: &ParamInfo) -> String {
    let range = match param.kind {
        ParamKind::Choice(words) => words.join(", "),
        _ => param.valid().unwrap_or_default(),
    };
    format!("| `{}` | {} | {range} | {} |", param.name, param.default, param.doc)
}

#[test]
fn parameters_of_multipath_tcp_are_idle_without_it() {
    let off = Config::default().idle().iter().find(|idle| (idle.decides, idle.value) == ("mptcp", "off"));
    let idle = off.expect("such parameters").keys;
    let parameters = Protocol::named("tcp").expect("TCP").parameters();
    let names = parameters.iter().map(|(param, _)| param.name).filter(|name| name.starts_with("mptcp_"));
    let missing: Vec<&str> = names.filter(|name| !idle.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn parameters_of_a_congestion_control_of_roce_are_idle_with_the_others() {
    let roce = Protocol::named("roce").expect("RoCE");
    let parameters = roce.parameters();
    let controls = ["off", "dcqcn", "hpcc", "timely", "swift"];
    for of in ["hpcc", "timely", "swift"] {
        let names: Vec<&str> = parameters.iter().map(|(param, _)| param.name).collect();
        let own: Vec<&str> = names.into_iter().filter(|name| name.starts_with(&format!("{of}_"))).collect();
        assert!(own.len() > 3, "{own:?}");
        for control in controls {
            let decides = |idle: &&Idle| (idle.decides, idle.value) == ("congestion_control", control);
            let idle: Vec<&str> =
                roce.config().idle().iter().filter(decides).flat_map(|idle| idle.keys).copied().collect();
            assert!(own.iter().all(|name| idle.contains(name) == (control != of)), "{of} {control}");
        }
    }
}

#[test]
fn the_page_has_every_parameter_of_the_protocols() {
    let title = |protocol: &str| match protocol {
        "tcp" => "Multipath TCP",
        "udp" => "UDP",
        "roce" => "RoCE",
        "uec" => "Ultra Ethernet",
        other => panic!("`{other}` needs a section of docs/transport.md"),
    };
    let wrong = Protocol::all().into_iter().filter_map(|protocol| {
        let (all, protocol) = (protocol.parameters(), protocol.name());
        let title = title(protocol);
        let is_here = |param: &&ParamInfo| {
            protocol != "tcp" || param.name.contains("mptcp") || param.name == "subflows"
        };
        let wanted: Vec<String> = all.iter().map(|(param, _)| *param).filter(is_here).map(row).collect();
        let found = rows(title);
        let same =
            found.len() == wanted.len() && found.iter().zip(&wanted).all(|(row, head)| row.starts_with(head));
        (!same).then(|| format!("{title}:\n{}\n", wanted.join("\n")))
    });
    assert_eq!(wrong.collect::<String>(), "");
}

#[test]
fn the_page_has_the_values_of_the_profiles() {
    let profiles = PROFILES.iter().map(|(name, _)| Protocol::from(Config::profile(name).expect("a profile")));
    let profiles: Vec<_> = profiles.map(|profile| profile.parameters()).collect();
    let found = rows("What is simulated");
    assert!(!found.is_empty());
    for row in found {
        let name = row.split('`').nth(1).expect("a name");
        let values = profiles.iter().flatten().filter(|(param, _)| param.name == name);
        let values: Vec<String> = values.map(|(_, value)| value.to_string()).collect();
        assert_eq!(row, format!("| `{name}` | {} |", values.join(" | ")));
    }
}
