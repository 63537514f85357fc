//! Loads the program for a new daemon, before anything is attached.

use weft_switching::leaf_routes::LeafRoutes;
use weft_switching::reachability::Reachability;
use weft_switching::tfe::Classifier;
use weft_switching::{ParamValue, mix64};

use super::hello::{Hellos, Schedule};
use super::log_limit::LogLimit;
use super::loop_counts::LoopCounts;
use super::notices::Notices;
use super::peers::Peers;
use super::ports::Port;
use super::refusal::Refusal;
use super::support::too_old;
use super::switch::{Restored, Switch};
use super::throttle::Throttle;
use super::unrouted::Unrouted;
use crate::clock;
use crate::config::Config;
use crate::error::PlaneError;
use crate::held::Held;
use crate::layout::{NEVER, Settings};
use crate::pins::{Hook, Pins, Staged};
use crate::plane::Plane;
use crate::tables::Sizes;

/// Loads the program, reusing pinned maps.
pub fn load(config: Config, pins: Pins, hook: Hook, hellos: Hellos) -> Result<(Switch, Staged), Refusal> {
    let shared_key =
        matches!(config.scheme.params.get("hash_seed"), Some(ParamValue::Text(text)) if text == "shared");
    let settings = Settings {
        has_router: config.uses_kernel.into(),
        hash_key: mix64(if shared_key { 0 } else { hellos.id }),
        ..Settings::new(&config.exploration)
            .classifying(&Classifier::from_spec(&config.scheme))
            .tagging(&config.tagging)
    };
    let plane = Plane::stage(config.mode, &config.exploration, settings, &pins);
    let (plane, staged) = plane.map_err(|error| match error {
        PlaneError::Load(_) | PlaneError::Program(_) if error.is_of_kernel() => {
            too_old(&format!("does not accept the data plane ({error})"))
        }
        other => other.into(),
    })?;
    let port = |name: &String| Port {
        is_left: config.expects_switch(name),
        ..Port::new(name, config.may_be_fabric(name))
    };
    let ports: Vec<Port> = config.ports.iter().map(port).collect();
    let now = clock::now();
    let switch = Switch {
        plane,
        sizes: Sizes::default(),
        pins,
        held: Held::default(),
        restored: Restored::default(),
        hook,
        notices: Notices::new(&ports),
        ports,
        hellos,
        loops: LoopCounts::default(),
        log_limit: LogLimit::default(),
        greeting: Schedule { next: now },
        reach: Reachability::new(config.ports.len()),
        leaves: LeafRoutes::default().replaced_by(&config.leaves),
        unrouted: Unrouted::default(),
        is_gone: false,
        peers: Peers::default(),
        wrapped_mtu: 0,
        throttle: Throttle::default(),
        due: NEVER,
        started: now,
        reads_since: NEVER,
        started_since_1970: clock::since_1970(),
        adopted: false,
        config,
    };
    Ok((switch, staged))
}
