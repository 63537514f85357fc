//! Listed interfaces that do not exist: the switch starts without them and takes them when they appear.

use weft_fabric::nearest;

use super::adoption::known_before;
use super::links::{Interface, Links};
use super::places::Places;
use crate::config::Config;

/// Why there is no interface `name`, if that can be guessed, and what to do. It had the index `before` under the previous
/// daemon.
pub fn hint(name: &str, all: &[Interface], before: Option<u32>) -> String {
    let renamed = all.iter().find(|interface| Some(interface.index) == before);
    let near = nearest(name, all.iter().map(|interface| interface.name.as_str()));
    match (renamed, near) {
        (Some(renamed), _) => format!(
            "it was renamed to `{new}` (ip link set dev {new} name {name}, or change `ports`)",
            new = renamed.name
        ),
        (None, Some(near)) => {
            format!("did you mean `{near}`? Otherwise create it; `ip link` lists all interfaces")
        }
        (None, None) => "create it, or change `ports`; `ip link` lists all interfaces".to_owned(),
    }
}

/// A warning for each listed interface that does not exist, as `--check` prints them.
pub async fn warnings(places: &Places, config: &Config) -> Vec<String> {
    let all = match Links::open() {
        Ok(links) => links.all().await,
        Err(error) => Err(error),
    };
    let all = match all {
        Ok(all) => all,
        Err(error) => {
            return vec![format!("cannot list interfaces ({error}), so missing ones are not reported")];
        }
    };
    let exists = |name: &str| all.iter().any(|interface| interface.name == name);
    let ports = config.ports.iter().zip(known_before(places, config));
    let missing = ports.filter(|(name, _)| !exists(name));
    let warning = |(name, before): (&String, Option<u32>)| {
        let hint = hint(name, &all, before);
        format!(
            "there is no interface `{name}` now: the daemon starts without it and takes it when it appears; {hint}"
        )
    };
    missing.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use weft_wire::Mac;

    use super::*;

    fn interface(index: u32, name: &str) -> Interface {
        Interface {
            index,
            name: name.to_owned(),
            mac: Mac::default(),
            mtu: 1500,
            up: true,
            promiscuous: false,
            ethernet: true,
            bridge: false,
            controller: None,
            notifies_at_once: true,
        }
    }

    #[test]
    fn a_hint_names_the_new_name_of_a_renamed_interface_or_the_nearest_name() {
        let all = [interface(1, "lo"), interface(7, "eth1")];
        assert!(hint("wan", &all, Some(7)).contains("ip link set dev eth1 name wan"));
        assert!(hint("eth11", &all, None).starts_with("did you mean `eth1`?"));
        assert!(hint("wlan0", &all, Some(9)).starts_with("create it"));
    }
}
