//! [`Pins`]: the directory of a switch's pins, and the names of attachments in it.

use std::path::{Path, PathBuf};

use super::bpffs::{Result, list};
use super::hook::Hook;
use crate::layout::MAX_PORTS;
use crate::names::SwitchName;

/// The directory of a switch's pins.
#[derive(Clone, Debug)]
pub struct Pins {
    pub(super) path: PathBuf,
}

impl Pins {
    /// The pins of the switch `name` below `root`, whether or not there are any.
    pub fn of(root: &Path, name: &SwitchName) -> Self {
        Self { path: root.join(&**name) }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The pin of a port's attachment.
    pub fn attachment(&self, hook: Hook, number: u16, interface: &str) -> PathBuf {
        self.path.join(hook.folder()).join(format!("{number}:{}", escape(interface)))
    }

    /// The pinned attachments: hook, port, interface and path.
    ///
    /// # Errors
    /// [`PlaneError::Pin`](crate::PlaneError::Pin).
    pub fn attachments(&self) -> Result<Vec<(Hook, u16, String, PathBuf)>> {
        let mut found = Vec::new();
        for hook in [Hook::Tcx, Hook::Clsact] {
            for path in list(&self.path.join(hook.folder()))? {
                if let Some((number, name)) = attachment_of(&path) {
                    found.push((hook, number, name, path));
                }
            }
        }
        Ok(found)
    }
}

/// The port and the interface in the name of an attachment's pin, if it is one of ours.
pub(super) fn attachment_of(path: &Path) -> Option<(u16, String)> {
    let (number, interface) = path.file_name()?.to_str()?.split_once(':')?;
    let (port, name) = (number.parse().ok().filter(|port| *port < MAX_PORTS)?, unescape(interface));
    // IFNAMSIZ is 16, including the terminating zero.
    let ours = (1..16).contains(&name.len())
        && format!("{port}:{}", escape(&name)) == format!("{number}:{interface}");
    ours.then_some((port, name))
}

/// The BPF file system allows no dots in names, but VLAN interfaces often have them.
fn escape(name: &str) -> String {
    name.replace('%', "%25").replace('.', "%2e")
}

fn unescape(name: &str) -> String {
    name.replace("%2e", ".").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_are_names_of_pins_and_come_back() {
        for (name, pin) in [("eth1", "eth1"), ("eth0.100", "eth0%2e100"), ("a%2eb", "a%252eb")] {
            assert_eq!(escape(name), pin);
            assert_eq!(unescape(pin), name);
        }
    }

    #[test]
    fn the_pin_of_an_attachment_is_distinguished_from_files_of_others() {
        let of = |name: &str| attachment_of(&Path::new("links").join(name));
        assert_eq!(of("3:eth0%2e100"), Some((3, "eth0.100".to_owned())));
        for other in [
            "eth0",
            "x:eth0",
            "64:eth0",
            "-1:eth0",
            "03:eth0",
            "+3:eth0",
            "3:",
            "3:sixteen-letters-",
            "3:a%2",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
