//! The warning at start about ports on which any Hello sender is accepted as a switch.

use super::switch::Switch;

/// Warns if any host can turn its port into a fabric port. Either a key or a list of fabric ports prevents that.
pub fn warn(switch: &Switch) {
    if !switch.hellos.keys.is_empty() || switch.config.fabric_ports.is_some() {
        return;
    }
    let open = switch.ports.iter().filter(|port| port.may_be_fabric).count();
    tracing::warn!(
        ports = open,
        "any host can turn its port into a fabric port with an unsigned Hello: set `hello_key` (the same on all \
         switches), or list the ports that lead to switches in `fabric_ports`"
    );
}
