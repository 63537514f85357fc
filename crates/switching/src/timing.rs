//! [`Timing`]: the delays of a central controller, and their parameters.

use weft_units::Duration;

use crate::param::ParamInfo;
use crate::spec::SchemeSpec;

/// The delays from a controller's decision until it takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// One-way delay between a switch and the controller.
    pub control_delay: Duration,
    /// Time from a decision of the controller until it is sent.
    pub install_delay: Duration,
    /// Time a switch needs to install a rule, one at a time.
    pub rule_latency: Duration,
}

/// Values of Open vSwitch with a controller on the same machine.
impl Default for Timing {
    fn default() -> Self {
        Self {
            control_delay: Duration::from_us(100),
            install_delay: Duration::ZERO,
            rule_latency: Duration::from_us(150),
        }
    }
}

impl Timing {
    /// The parameter of [`Timing::control_delay`].
    pub(crate) const CONTROL_DELAY: ParamInfo =
        ParamInfo::duration("control_delay", "100 us", "one-way delay between a switch and the controller");
    /// The parameter of [`Timing::install_delay`].
    pub(crate) const INSTALL_DELAY: ParamInfo = ParamInfo::duration(
        "install_delay",
        "0 s",
        "time from a decision of the controller until it is sent",
    );
    /// The parameter of [`Timing::rule_latency`].
    pub(crate) const RULE_LATENCY: ParamInfo =
        ParamInfo::duration("rule_latency", "150 us", "time a switch needs to install a rule, one at a time");

    /// The delays given in `spec`.
    pub(crate) fn from_spec(spec: &SchemeSpec) -> Self {
        let given = |param: ParamInfo, otherwise| spec.duration(param.name).unwrap_or(otherwise);
        let by_default = Self::default();
        Self {
            control_delay: given(Self::CONTROL_DELAY, by_default.control_delay),
            install_delay: given(Self::INSTALL_DELAY, by_default.install_delay),
            rule_latency: given(Self::RULE_LATENCY, by_default.rule_latency),
        }
    }
}
