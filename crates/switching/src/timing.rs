//! [`Timing`]: the delays of a central controller, and their parameters.

use weft_units::{Duration, params};

params! {
    /// The delays from a controller's decision until it takes effect. The defaults are those of Open vSwitch with a controller
    /// on the same machine.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Timing {
        /// one-way delay between a switch and the controller
        control_delay: Duration = Duration::from_us(100);
        /// time from a decision of the controller until it is sent
        install_delay: Duration = Duration::ZERO;
        /// time a switch needs to install a rule, one at a time
        rule_latency: Duration = Duration::from_us(150);
    }
}
