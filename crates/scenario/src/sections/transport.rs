//! `[transport]`: a profile of TCP and what is changed of it. The keys are the parameters of the
//! transport itself, so a new one needs no word here.

use serde_json::Value as Json;
use weft_transport::Config;
use weft_transport::profile::PROFILES;

use crate::diagnostic::Problem;
use crate::nearest::{list, nearest};
use crate::section::{Key, Kind, Section, key};

/// The profile that is used where none is named.
pub(crate) const DEFAULT_PROFILE: &str = "linux";

/// The key that names the profile.
pub(crate) const PROFILE: Key =
    key("profile", Kind::Choice(profiles), DEFAULT_PROFILE, "the TCP whose parameters are the defaults");

/// The names of all profiles.
pub(crate) fn profiles() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// A profile of TCP with what the scenario changes of it.
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
                        .label("no parameter of a TCP is called so")
                        .help(format!("there are {}", list(names()))),
                });
                continue;
            };
            match serde_json::from_value::<Config>(Json::Object(fields.clone())) {
                Ok(config) => transport.config = config,
                Err(error) => {
                    good = false;
                    let message = format!("`transport.{key}` cannot be {}", entry.node.describe());
                    let why = out_of_range(&fields, key, &error).unwrap_or_else(|| error.to_string());
                    let label = format!("{why}; the profile `{}` has {before}", transport.profile);
                    section.problem(entry.node.span, message, label);
                    fields.insert(key.clone(), before);
                }
            }
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

/// What a whole number should be that does not fit into the parameter `key`, for which `error` says so.
fn out_of_range(
    fields: &serde_json::Map<String, Json>,
    key: &str,
    error: &serde_json::Error,
) -> Option<String> {
    fields.get(key).filter(|value| value.is_i64() || value.is_u64())?;
    let text = error.to_string();
    let most = match text.rsplit_once("expected ")?.1 {
        "u8" => u64::from(u8::MAX),
        "u16" => u64::from(u16::MAX),
        "u32" => u64::from(u32::MAX),
        "u64" => u64::MAX,
        _ => return None,
    };
    // What the parameter allows of the numbers that fit, if it says so of one of the outermost two.
    let said = [0, most].into_iter().find_map(|number| {
        let mut fields = fields.clone();
        fields.insert(key.to_owned(), number.into());
        let config = serde_json::from_value::<Config>(Json::Object(fields)).ok()?;
        config.validate().err().filter(|error| error.name == key)
    });
    let range = said.map_or_else(|| format!("0 to {most}"), |error| error.expected.to_owned());
    Some(format!("expected {range}"))
}

/// The parameters of a TCP by name, as text, numbers and flags.
pub(crate) fn fields(config: &Config) -> serde_json::Map<String, Json> {
    match serde_json::to_value(config) {
        Ok(Json::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    }
}
