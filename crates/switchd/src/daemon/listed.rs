//! The listed interfaces when the daemon starts: the switch starts without those that do not exist or cannot be ports, and
//! takes them when that changes.

use weft_fabric::nearest;

use super::adoption::known_before;
use super::interfaces::unfit;
use super::links::{Interface, Links};
use super::owners::owned;
use super::places::Places;
use crate::config::Config;
use crate::error::PlaneError;

/// A listed interface.
pub enum Listed {
    /// There is none of this name; with the likely cause and what to do.
    Missing(String),
    /// It cannot be a port now; with the cause and the fix.
    Unfit(Interface, String),
    /// It can be a port.
    Fit(Interface),
}

impl Listed {
    /// The interface, if it can be a port.
    pub fn fit(&self) -> Option<&Interface> {
        match self {
            Self::Fit(interface) => Some(interface),
            Self::Missing(_) | Self::Unfit(..) => None,
        }
    }
}

/// The listed interfaces by port number; `all` are those that exist.
///
/// # Errors
/// [`PlaneError`] if the kernel cannot be asked for the switch that an interface belongs to.
pub fn listed(places: &Places, config: &Config, all: &[Interface]) -> Result<Vec<Listed>, PlaneError> {
    let ports = config.ports.iter().zip(known_before(places, config));
    let state = |(name, before): (&String, Option<u32>)| {
        let Some(interface) = all.iter().find(|interface| interface.name == *name) else {
            return Ok(Listed::Missing(hint(name, all, before)));
        };
        let why = match unfit(interface, all, config, config.carries_tags(name)) {
            Some(why) => Some(why),
            None => owned(&places.pins, &config.name, name)?,
        };
        Ok(match why {
            Some(why) => Listed::Unfit(interface.clone(), why),
            None => Listed::Fit(interface.clone()),
        })
    };
    ports.map(state).collect()
}

/// Why there is no interface `name`, if that can be guessed, and what to do. It had the index `before` under the previous
/// daemon.
fn hint(name: &str, all: &[Interface], before: Option<u32>) -> String {
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

/// A warning for each listed interface that the switch would start without, as `--check` prints them.
pub async fn warnings(places: &Places, config: &Config) -> Vec<String> {
    let all = match Links::open() {
        Ok(links) => links.all().await,
        Err(error) => Err(error),
    };
    let listed = match all.map(|all| listed(places, config, &all)) {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => return vec![format!("cannot check interfaces ({error})")],
        Err(error) => return vec![format!("cannot list interfaces ({error}), so they are not checked")],
    };
    let warning = |(name, listed): (&String, Listed)| match listed {
        Listed::Missing(hint) => Some(format!(
            "there is no interface `{name}` now: the daemon starts without it and takes it when it appears; {hint}"
        )),
        Listed::Unfit(_, why) => {
            Some(format!("the daemon starts without the interface `{name}` until this is mended: it {why}"))
        }
        Listed::Fit(_) => None,
    };
    config.ports.iter().zip(listed).filter_map(warning).collect()
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
