//! What a start warns of: ports on which whoever sends a Hello is taken for a switch.

use super::switch::Switch;

/// Warns where any host can make its port a fabric port. There are two ways to close that, and each is enough: a key, or
/// the list of ports that lead to switches.
pub fn warn(switch: &Switch) {
    if !switch.hellos.keys.is_empty() || switch.config.fabric_ports.is_some() {
        return;
    }
    let open = switch.ports.iter().filter(|port| port.may_be_fabric).count();
    tracing::warn!(
        ports = open,
        "any host can make its port a fabric port by a Hello without a signature: set `hello_key` (the same on all \
         switches), or list the ports that lead to switches in `fabric_ports`"
    );
}
