//! Warnings of keys that another key leaves without effect.

use weft_fabric::Fabric;
use weft_units::ParamValue;

use crate::settings::Settings;

/// Warns of keys of [transport] without effect.
pub(super) fn idle(settings: &Settings) -> Vec<String> {
    let protocol = &settings.transport.protocol;
    let parameters = protocol.parameters();
    let is = |key: &str, word: &str| {
        parameters
            .iter()
            .any(|(param, value)| param.name == key && *value == ParamValue::Text(word.to_owned()))
    };
    let own = protocol.config().idle().iter().filter(|idle| is(idle.decides, idle.value));
    let own = own.filter_map(|idle| {
        warning(settings, idle.keys, &format!("transport.{}", idle.decides), idle.value, idle.advice)
    });
    own.chain(unhashed(settings)).collect()
}

/// Warns of keys that choose paths by entropy, under a scheme that ignores it.
fn unhashed(settings: &Settings) -> Option<String> {
    let choice = settings.transport.protocol.config().path_choice()?;
    let name = settings.descriptor.name;
    let ignores = settings.descriptor.explores.is_some()
        || matches!(name, "drill" | "flowcut" | "single_path" | "smoc" | "spanning_tree" | "spray");
    let advice = ": set a scheme that hashes entropy, such as \"ecmp\"";
    ignores.then(|| warning(settings, choice.keys, "scheme.name", name, advice)).flatten()
}

/// Warns of keys for scale-up domains in a fabric without any.
pub(super) fn without_scale_up(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let is_given = settings.transport_keys.iter().any(|key| key == "scale_up_mtu");
    is_given.then(|| needs_scale_up("transport.scale_up_mtu", fabric, settings)).flatten()
}

/// The warning of a key that has no effect in a fabric without scale-up domains, if the sweep has no other fabric.
pub(super) fn needs_scale_up(key: &str, fabric: &Fabric, settings: &Settings) -> Option<String> {
    let section = key.split('.').next().unwrap_or(key);
    (!fabric.has_scale_up() && !sweeps(settings, section, "fabric")).then(|| {
        format!(
            "`{key}` has no effect: the fabric has no scale-up domains; set `fabric.scale_up`, or remove it"
        )
    })
}

/// The warning of those of these keys of [transport] that are given, but have no effect with a value of another key. With a
/// sweep over that, they are meant for its other points.
fn warning(settings: &Settings, keys: &[&str], decides: &str, value: &str, advice: &str) -> Option<String> {
    let given = settings.transport_keys.iter().filter(|key| keys.contains(&key.as_str()));
    let given: Vec<String> = given.map(|key| format!("`transport.{key}`")).collect();
    if given.is_empty() || sweeps(settings, "transport", decides) {
        return None;
    }
    let verb = if given.len() == 1 { "has" } else { "have" };
    Some(format!("{} {verb} no effect while {decides} is \"{value}\"{advice}", given.join(", ")))
}

/// Whether the sweep changes this key, one of its sub-keys, or its whole section unless that is `own`, the section of the idle
/// key.
pub(super) fn sweeps(settings: &Settings, own: &str, key: &str) -> bool {
    let section = key.split('.').next().filter(|section| *section != own);
    let is_within =
        |swept: &str| swept.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    settings.swept.iter().any(|swept| is_within(swept) || Some(swept.as_str()) == section)
}
