//! [`CongestionController`]: the entry point of a module's congestion controller.

use weft_transport::{Code, ControllerInfo, CustomController, Settings};
use weft_units::ParamInfo;

/// A congestion controller of TCP. A value is the state of one connection.
pub trait CongestionController: CustomController + Sized + 'static {
    /// Its name in scenarios.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// The paper or RFC.
    const SOURCE: &'static str;
    /// Its parameters, keys of `[transport]`.
    const PARAMS: &'static [ParamInfo];

    /// The state of a new connection. The parameters given are in `settings.own`.
    fn new(settings: &Settings<'_>) -> Self;
}

/// The description of `C`, with its code.
pub(crate) const fn info<C: CongestionController>() -> ControllerInfo {
    ControllerInfo {
        name: C::NAME,
        summary: C::SUMMARY,
        source: C::SOURCE,
        params: C::PARAMS,
        code: Code::Here(make::<C>),
    }
}

fn make<C: CongestionController>(settings: &Settings<'_>) -> Box<dyn CustomController> {
    Box::new(C::new(settings))
}
