//! docs/switchd.md has the keys that are read, with their defaults and ranges.

use std::collections::BTreeSet;
use std::path::Path;

use weft_switching::exploration::Safeguards;
use weft_switching::tag_forward;
use weft_units::{ParamInfo, ParamValue};

use super::read::{Hello, Top};
use super::{Config, Flags, SHORTEST_KEY};
use crate::Mode;
use crate::layout::MAX_PORTS;
use crate::tags::config as tags;

const PAGE: &str = include_str!("../../../../docs/switchd.md");

#[test]
fn the_page_has_every_parameter_with_its_default_its_meaning_and_its_range() {
    let head = |section: &str, param: &ParamInfo| {
        let default = match param.default {
            ParamValue::Count(count) => count.to_string(),
            other => format!("`\"{other}\"`"),
        };
        let range = param.valid().map(|range| format!("; {range}")).unwrap_or_default();
        format!("* `{section}{}` ({default}{range}): ", param.name)
    };
    for (section, params) in
        [("", Top::PARAMS), ("hello.", Hello::PARAMS), ("", Safeguards::PARAMS), ("", tags::Tags::PARAMS)]
    {
        for param in params {
            let line = format!("{}{}\n", head(section, param), param.doc);
            assert!(PAGE.contains(&line), "{line}");
        }
    }
    let scheme = tag_forward::DESCRIPTOR.params.iter().filter(|param| tags::OF_SCHEME.contains(&param.name));
    let others = [
        format!("* `mode` (required): `{}`\n", Mode::WORDS.join("`, `")),
        format!("* `ports` (required): interfaces, at most {MAX_PORTS};"),
        format!("* `hello_key` (none): shared by all switches: at least {SHORTEST_KEY} bytes "),
    ];
    for line in scheme.map(|param| head("", param)).chain(others) {
        assert!(PAGE.contains(&line), "{line}");
    }
}

#[test]
fn the_page_has_exactly_the_keys_that_are_read_and_a_default_written_out_changes_nothing() {
    let flags =
        Flags { mode: Some("tag-forward".to_owned()), ports: vec!["a".to_owned()], ..Flags::default() };
    let read = |text: &str| Config::read("switch.toml", text, Path::new(""), &flags);
    let plain = format!("{:?}", read("").unwrap());
    let (_, page) = PAGE.split_once("\n## Configuration\n").unwrap();
    let (top, page) = page.split_once("\n`[exploration]` takes ").unwrap();
    let (exploration, page) = page.split_once("\n`[tags]`, in modes ").unwrap();
    let (tags, _) = page.split_once("\n## ").unwrap();
    let mut documented = BTreeSet::new();
    for (section, lines) in [("", top), ("exploration.", exploration), ("tags.", tags)] {
        for line in lines.lines().filter_map(|line| line.strip_prefix("* `")) {
            let Some((name, (default, _))) = line
                .split_once("` (")
                .and_then(|(name, rest)| Some((format!("{section}{name}"), rest.split_once("): ")?)))
            else {
                assert!(line.starts_with('['), "{line}");
                continue;
            };
            if default.starts_with(|c: char| c == '`' || c.is_ascii_digit()) {
                let text =
                    format!("{name} = {}", default.split([',', ';']).next().unwrap().trim_matches('`'));
                assert_eq!(format!("{:?}", read(&text).unwrap()), plain, "{text}");
            }
            documented.insert(name);
        }
    }
    let sections = ["", "control.", "hello.", "exploration.", "tags."];
    let known = sections.into_iter().flat_map(|section| {
        let refused = read(&format!("{section}unknown_key = 1")).unwrap_err().to_string();
        let (_, names) = refused.split_once("expected one of ").unwrap();
        let names = names.split('`').skip(1).step_by(2).filter(|name| {
            !["route", "leaf"].contains(name)
                && !sections.iter().any(|other| other.strip_suffix('.') == Some(name))
        });
        names.map(|name| format!("{section}{name}")).collect::<Vec<_>>()
    });
    assert_eq!(documented, known.collect());
}
