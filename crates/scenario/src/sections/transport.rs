//! `[transport]`: a TCP profile and overridden parameters. The keys are the transport's parameters
//! themselves, so new ones need no change here.

use serde_json::Value as Json;
use weft_transport::Config;
use weft_transport::profile::PROFILES;

use crate::diagnostic::Problem;
use crate::nearest::{list, nearest};
use crate::section::{Key, Kind, Section, key};
use crate::tree::{Entry, Value};

/// The default profile.
pub(crate) const DEFAULT_PROFILE: &str = "linux";

/// The key that names the profile.
pub(crate) const PROFILE: Key =
    key("profile", Kind::Choice(profiles), DEFAULT_PROFILE, "TCP variant whose parameters are the defaults");

/// The names of all profiles.
pub(crate) fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// A TCP profile with the scenario's overrides.
#[derive(Clone, PartialEq, Debug)]
pub struct Transport {
    /// The name of the profile.
    pub profile: String,
    /// Every parameter.
    pub config: Config,
}

impl Default for Transport {
    fn default() -> Self {
        let config = Config::profile(DEFAULT_PROFILE).expect("the default profile exists: a test reads it");
        Self { profile: DEFAULT_PROFILE.to_owned(), config }
    }
}

impl Transport {
    pub(crate) fn decode(section: Option<&Section<'_>>) -> Option<Self> {
        let mut transport = Self::default();
        let Some(section) = section else { return Some(transport) };
        if section.node("profile").is_some() {
            let choices: Vec<_> = profiles().into_iter().map(|name| (name, name)).collect();
            transport.profile = section.choice("profile", &choices)?.value.to_owned();
            transport.config = Config::profile(&transport.profile)?;
        }
        let mut fields = fields(&transport.config);
        let names: Vec<String> = fields.keys().cloned().collect();
        let mut good = true;
        for entry in section.table.0.iter().filter(|entry| entry.key != "profile") {
            let key = &entry.key;
            let Some(before) = fields.insert(key.clone(), entry.node.to_json()) else {
                fields.remove(key);
                good = false;
                let problem = Problem::at(entry.span, format!("unknown key `{key}` in [transport]"));
                let names = || names.iter().map(String::as_str);
                section.problems.add(match nearest(key, names().chain(["profile"])) {
                    Some(nearest) => problem.label(format!("did you mean `{nearest}`?")),
                    None => problem
                        .label("not a TCP parameter")
                        .help(format!("expected one of {}", list(names()))),
                });
                continue;
            };
            if let Ok(config) = serde_json::from_value::<Config>(Json::Object(fields.clone())) {
                transport.config = config;
                continue;
            }
            good = false;
            fields.insert(key.clone(), before.clone());
            refuse(section, entry, &before, &fields, &transport.profile);
        }
        if let Err(error) = transport.config.validate() {
            let entry = section.table.entry(error.name);
            let span = entry.map_or(section.span, |entry| entry.node.span);
            let message = format!("`transport.{}` is {}", error.name, error.found);
            section.problem(span, message, format!("expected {}", error.expected));
            good = false;
        }
        good.then_some(transport)
    }
}

/// Reports an unreadable parameter value and the expected one. `before`, its current value in `fields`, shows
/// the kind of value.
fn refuse(
    section: &Section<'_>,
    entry: &Entry,
    before: &Json,
    fields: &serde_json::Map<String, Json>,
    profile: &str,
) {
    let (key, node) = (entry.key.as_str(), &entry.node);
    let why = match before {
        Json::Number(number) => {
            let what = if number.is_f64() { "a finite number" } else { "a whole number" };
            let kind = if matches!(node.value, Value::Integer(_)) { "" } else { what };
            let range = range(fields, key, number);
            let parts = [kind, range.as_deref().unwrap_or_default()];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("expected {}", parts.join(", "))
        }
        Json::Bool(_) => "expected true or false, without quotes".to_owned(),
        _ => match (choices(fields, key), &node.value) {
            (Some(names), Value::Text(_)) => {
                let names: Vec<(&str, ())> = names.iter().map(|name| (name.as_str(), ())).collect();
                section.choice(key, &names);
                return;
            }
            (Some(names), _) => format!("expected one of {}", list(names.iter().map(String::as_str))),
            (None, Value::Integer(_) | Value::Float(_)) => {
                format!("the unit is missing: write it as a string, \"{} ...\"", node.short())
            }
            (None, _) => {
                let why = refusal(fields, key, node.to_json()).unwrap_or_default();
                // Serde repeats the value, which the message shows already.
                match why.split_once(", expected ") {
                    Some((start, what)) if start.starts_with("invalid ") => format!("expected {what}"),
                    _ => why,
                }
            }
        },
    };
    let message = format!("`transport.{key}` cannot be {}", node.describe());
    section.problem(node.span, message, format!("{why}; the profile `{profile}` has {before}"));
}

/// The error of the parameter's own reader for `value`, if any.
fn refusal(fields: &serde_json::Map<String, Json>, key: &str, value: Json) -> Option<String> {
    let mut fields = fields.clone();
    fields.insert(key.to_owned(), value);
    serde_json::from_value::<Config>(Json::Object(fields)).err().map(|error| error.to_string())
}

/// The choices of the parameter `key`, if it has a few: its reader lists them when given an empty string.
fn choices(fields: &serde_json::Map<String, Json>, key: &str) -> Option<Vec<String>> {
    let error = refusal(fields, key, "".into())?;
    let (_, names) = error.strip_prefix("unknown variant ")?.split_once("expected ")?;
    Some(names.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// The valid range of the numeric parameter `key`; `number` is a valid value.
fn range(fields: &serde_json::Map<String, Json>, key: &str, number: &serde_json::Number) -> Option<String> {
    let whole = !number.is_f64();
    let largest = [u64::from(u8::MAX), u16::MAX.into(), u32::MAX.into(), u64::MAX];
    let most = largest.into_iter().rev().find(|most| refusal(fields, key, (*most).into()).is_none());
    let outermost = if whole { vec![0.into(), most?.into()] } else { vec![Json::from(-1.0)] };
    // The range that validation reports for one of the extreme values, if any.
    let said = outermost.into_iter().find_map(|number| {
        let mut fields = fields.clone();
        fields.insert(key.to_owned(), number);
        let config = serde_json::from_value::<Config>(Json::Object(fields)).ok()?;
        config.validate().err().filter(|error| error.name == key)
    });
    match said {
        Some(error) => Some(error.expected.to_owned()),
        None if whole => Some(format!("0 to {}", most?)),
        None => None,
    }
}

/// The parameters of a TCP by name, as strings, numbers and booleans.
pub(crate) fn fields(config: &Config) -> serde_json::Map<String, Json> {
    match serde_json::to_value(config) {
        Ok(Json::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    }
}
