//! Warnings of keys of [traffic] that other keys, the fabric or a file leave without effect.

use weft_fabric::Fabric;
use weft_traffic::{Choice, Relay, Traffic};
use weft_units::{Bytes, Duration};

use super::keys::needs_scale_up;
use crate::sections::traffic::GroupSettings;
use crate::settings::Settings;

/// Warns of keys of [traffic] without effect. With a sweep over what decides that, they are meant for its other points.
pub(super) fn idle(fabric: &Fabric, traffic: &Traffic, settings: &Settings) -> Vec<String> {
    let is_swept = |keys: &[&str]| {
        let mut own = settings.swept.iter().filter(|key| key.starts_with("traffic"));
        own.any(|key| key == "traffic" || keys.iter().any(|name| key.ends_with(&format!(".{name}"))))
    };
    let groups = &settings.traffic;
    let collectives = || groups.iter().filter_map(GroupSettings::collective);
    let mut warnings = Vec::new();
    if groups.iter().any(GroupSettings::has_idle_factor) && !is_swept(&["stragglers"]) {
        warnings.push("`traffic.straggler_factor` has no effect without `stragglers`".to_owned());
    }
    let is_relayed = collectives().any(|of| of.relay != Relay::None);
    if is_relayed && !is_swept(&["relay"]) {
        warnings.extend(needs_scale_up("traffic.relay", fabric, settings));
    }
    let is_idle = |of: &&weft_traffic::Collective| {
        of.compute > Duration::ZERO && of.rounds == 1 && !of.algorithm.passes_on()
    };
    if let Some(of) = collectives().find(is_idle).filter(|_| !is_swept(&["compute", "repeats", "collective"]))
    {
        warnings.push(format!(
            "`traffic.compute` has no effect in one round of `{}`, in which no rank sends data after it has received \
             some: set `repeats` to 2 or more, or remove it",
            of.algorithm
        ));
    }
    if !is_swept(&["tuner", "bytes", "collective"]) {
        let choices = traffic.choices.iter();
        warnings.extend(choices.filter_map(|(group, choice)| overridden(groups.get(*group)?, choice)));
    }
    warnings
}

/// The warning of a table of a tuner that has no effect, or leaves keys of its group without any.
fn overridden(group: &GroupSettings, choice: &Choice) -> Option<String> {
    let asked = group.collective()?;
    let Some(line) = choice.line else {
        return Some(format!(
            "`traffic.tuner` has no effect: no line of the table fits {} of `{}` among these ranks",
            Bytes(asked.bytes),
            asked.algorithm
        ));
    };
    let chosen = &choice.collective;
    let given = group.of_tuner().iter().filter(|key| match **key {
        "protocol" => chosen.protocol != asked.protocol,
        "channels" => chosen.channels != asked.channels,
        _ => chosen.chunks != asked.chunks,
    });
    let keys: Vec<String> = given.map(|key| format!("`traffic.{key}`")).collect();
    let verb = if keys.len() == 1 { "has" } else { "have" };
    (!keys.is_empty()).then(|| {
        format!(
            "{} {verb} no effect: line {line} of the tuner's table chooses `{}` with protocol `{}` and {}",
            keys.join(", "),
            chosen.algorithm,
            chosen.protocol,
            weft_units::plural(chosen.channels, "channel")
        )
    })
}
