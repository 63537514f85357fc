//! Warns of a default for slower links.

use weft_fabric::{Fabric, Link};
use weft_transport::Step;
use weft_units::Rate;

use crate::settings::Settings;

/// Above so many times the rate that a default suits, rates recover too slowly.
const MOST: f64 = 2.5;

/// Warns if the links of hosts are much faster than those that the default of the rate's increase is for.
pub(super) fn slow(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let Step { key, step, suits } = settings.transport.protocol.config().step()?;
    let is_own =
        |link: &&Link| link.up && fabric.node(link.from).is_host() && !fabric.node(link.to).is_scale_up();
    let rate = fabric.links().iter().filter(is_own).map(|link| link.rate).max()?;
    let factor = rate.bps() as f64 / suits.bps() as f64;
    let is_given = settings.transport_keys.iter().any(|given| given == key);
    (factor > MOST && !is_given).then(|| {
        let fitting = Rate::from_bps((step.bps() as f64 * factor) as u64);
        format!(
            "transport.{key} is {step}, a default for links of {suits}, but hosts have links of {rate}: rates recover slowly \
             after a queue; set transport.{key} in proportion, such as \"{fitting}\""
        )
    })
}
