//! The JSON Schema contains every key of the starter scenarios, and every scheme and parameter.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use weft_fabric::Overhead;
use weft_scenario::schema;
use weft_switching::Schemes;
use weft_traffic::published;
use weft_transport::profile::PROFILES;

/// Whether `schema` allows the keys of `value` at any depth.
fn knows(schema: &Json, value: &Json) -> bool {
    let any = ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten();
    let mut any = any.peekable();
    if any.peek().is_some() {
        return any.any(|schema| knows(schema, value));
    }
    if let Some(constant) = schema.get("const") {
        return constant == value;
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.contains(value);
    }
    let kind = schema["type"].as_str().unwrap_or("object");
    match value {
        Json::Object(map) => map.iter().all(|(key, value)| match schema["properties"].get(key) {
            Some(schema) => knows(schema, value),
            None => schema["additionalProperties"].is_object(),
        }),
        Json::Array(list) => kind == "array" && list.iter().all(|value| knows(&schema["items"], value)),
        Json::String(_) => kind == "string",
        Json::Bool(_) => kind == "boolean",
        Json::Number(_) => kind == "number" || kind == "integer",
        Json::Null => false,
    }
}

#[test]
fn every_starter_fits_the_schema_and_a_slip_does_not() {
    let schema = serde_json::to_value(schema(&Schemes::default())).unwrap();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let value: Json = toml::from_str(&text).unwrap();
        assert!(knows(&schema, &value), "{}", path.display());
        let slip: Json = toml::from_str(&text.replace("[fabric]", "[fabrics]")).unwrap();
        assert!(!knows(&schema, &slip), "{}", path.display());
    }
}

#[test]
fn the_bytes_of_every_framing_are_described() {
    let schema = serde_json::to_value(schema(&Schemes::default())).unwrap();
    let overhead = &schema["properties"]["fabric"]["oneOf"][0]["properties"]["overhead"]["description"];
    for word in Overhead::WORDS {
        let bytes = word.parse::<Overhead>().unwrap().bytes();
        assert!(overhead.as_str().unwrap().contains(&format!("{word} {bytes}")), "{overhead}");
    }
}

#[test]
fn schemes_profiles_and_distributions_are_listed() {
    let text = serde_json::to_string(&schema(&Schemes::default())).unwrap();
    for scheme in weft_switching::registry() {
        assert!(text.contains(scheme.name) && text.contains(scheme.summary), "{}", scheme.name);
        assert!(scheme.params.iter().all(|param| text.contains(param.doc)), "{}", scheme.name);
    }
    let profiles = PROFILES.iter().map(|(name, _)| *name);
    let distributions = published::ALL.iter().map(|table| table.name);
    let keys = ["initial_window", "hosts_per_leaf", "rack-local", "rate_back"];
    for name in profiles.chain(distributions).chain(keys) {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn every_description_is_a_noun_phrase() {
    fn descriptions<'a>(schema: &'a Json, all: &mut Vec<&'a str>) {
        match schema {
            Json::Object(map) => {
                all.extend(map.get("description").and_then(Json::as_str));
                map.values().for_each(|value| descriptions(value, all));
            }
            Json::Array(list) => list.iter().for_each(|value| descriptions(value, all)),
            _ => {}
        }
    }
    let schema = serde_json::to_value(schema(&Schemes::default())).unwrap();
    let mut all = Vec::new();
    descriptions(&schema, &mut all);
    assert!(all.len() > 200, "{}", all.len());
    let clauses = ["what", "whether", "how", "when", "where", "which", "who", "by how", "see"];
    let is_clause = |text: &&&str| {
        let text = text.to_lowercase();
        clauses.iter().any(|word| text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')))
    };
    assert_eq!(all.iter().filter(is_clause).collect::<Vec<_>>(), [""; 0].iter().collect::<Vec<_>>());
}
