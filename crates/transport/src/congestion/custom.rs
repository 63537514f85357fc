//! [`Custom`]: a controller that this crate does not know, such as that of a plugin, behind an indirect call. The window
//! stays in front, as in the other controllers.

use std::fmt;

use weft_units::{Given, ParamInfo, Time};

use super::controller::{Ack, Cause, Controller, Delivered, Timeout, state_in};
use super::settings::Settings;
use super::window::Window;
use crate::segment::LARGEST_WINDOW;

/// A congestion controller of TCP for authors of plugins: the state of one connection, without its window.
///
/// A call may set the window to at least one segment and at most [`LARGEST_WINDOW`] bytes, and the threshold to at least
/// one segment; it panics otherwise.
pub trait CustomController: Duplicate + fmt::Debug + Send + Sync {
    /// New data was acknowledged, or only a round trip observed (`may_grow` is false).
    fn on_ack(&mut self, settings: &Settings<'_>, window: &mut Window, ack: &Ack);

    /// A loss or mark, at most once per window, with `flight` bytes in flight: reduces threshold and window.
    fn on_congestion_event(
        &mut self,
        settings: &Settings<'_>,
        window: &mut Window,
        cause: Cause,
        flight: u32,
    );

    /// Data was delivered: called first for every ACK of a connection with ECN, in any state.
    fn on_delivered(&mut self, _settings: &Settings<'_>, _window: &mut Window, _delivered: &Delivered) {}

    /// `bytes` of payload have left, new or retransmitted.
    fn on_sent(&mut self, _now: Time, _bytes: u32) {}

    /// The retransmission timer expired; the window is then that of `timeout`.
    fn on_timeout(&mut self, settings: &Settings<'_>, window: &mut Window, timeout: &Timeout) {
        if !timeout.again {
            self.on_congestion_event(settings, window, Cause::Loss, timeout.flight);
        }
    }

    /// A reduction proved unnecessary: the window before it was `prior`.
    fn on_spurious(&mut self, _settings: &Settings<'_>, window: &mut Window, prior: Window) {
        window.restore(prior);
    }
}

/// Copies a controller of unknown type; every [`CustomController`] that is `Clone` does.
pub trait Duplicate {
    /// A copy.
    fn duplicate(&self) -> Box<dyn CustomController>;
}

impl<C: CustomController + Clone + 'static> Duplicate for C {
    fn duplicate(&self) -> Box<dyn CustomController> {
        Box::new(self.clone())
    }
}

/// A controller that scenarios may name, beside those of this crate.
#[derive(Clone, Copy, Debug)]
pub struct ControllerInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// Its parameters, keys of `[transport]`.
    pub params: &'static [ParamInfo],
    /// Where its code is.
    pub code: Code,
}

/// Where the code of a controller is.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// Here: the controller of a new connection.
    Here(fn(&Settings<'_>) -> Box<dyn CustomController>),
    /// In a module with this SHA-256, which carries out the run.
    Module(&'static str),
}

impl ControllerInfo {
    /// The SHA-256 of its module; `None` in the module itself.
    pub fn sha256(&self) -> Option<&'static str> {
        match self.code {
            Code::Here(_) => None,
            Code::Module(sha256) => Some(sha256),
        }
    }

    /// Whether it has the parameter `name`.
    pub fn has(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name)
    }
}

/// By name: no two have the same.
impl PartialEq for ControllerInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ControllerInfo {}

/// One connection.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Custom {
    window: Window,
    own: Box<dyn CustomController>,
}

impl Clone for Custom {
    fn clone(&self) -> Self {
        Self { window: self.window, own: self.own.duplicate() }
    }
}

impl Custom {
    #[cold]
    pub(super) fn new(info: &ControllerInfo, settings: &Settings<'_>, window: Window) -> Self {
        let Code::Here(make) = info.code else { unreachable!("the run is carried out in the module") };
        Self { window, own: make(settings) }
    }

    /// Calls the controller.
    ///
    /// # Panics
    /// It sets a window with which the connection could stop, or that overflows.
    fn call(&mut self, settings: &Settings<'_>, call: impl FnOnce(&mut dyn CustomController, &mut Window)) {
        let Window { cwnd, ssthresh } = self.window;
        call(&mut *self.own, &mut self.window);
        let (now, least) = (self.window, settings.segment);
        // Loss recovery may have left less than a segment.
        assert!(
            now.cwnd == cwnd || (least..=LARGEST_WINDOW).contains(&now.cwnd),
            "the congestion controller set the window to {} bytes: expected {least} to {LARGEST_WINDOW}",
            now.cwnd
        );
        assert!(
            now.ssthresh == ssthresh || now.ssthresh >= least,
            "the congestion controller set the threshold to {} bytes: expected at least {least}",
            now.ssthresh
        );
    }
}

impl Controller for Custom {
    type Own = Given;

    state_in!(window);

    fn on_sent(&mut self, now: Time, bytes: u32) {
        self.own.on_sent(now, bytes);
    }

    fn on_delivered(&mut self, settings: &Settings<'_>, delivered: &Delivered) {
        self.call(settings, |own, window| own.on_delivered(settings, window, delivered));
    }

    fn on_ack(&mut self, settings: &Settings<'_>, ack: &Ack) {
        self.call(settings, |own, window| own.on_ack(settings, window, ack));
    }

    fn on_congestion_event(&mut self, settings: &Settings<'_>, cause: Cause, flight: u32) {
        self.call(settings, |own, window| own.on_congestion_event(settings, window, cause, flight));
    }

    fn on_timeout(&mut self, settings: &Settings<'_>, timeout: &Timeout) {
        self.call(settings, |own, window| own.on_timeout(settings, window, timeout));
        self.window.cwnd = timeout.window;
    }

    fn on_spurious(&mut self, settings: &Settings<'_>, prior: Window) {
        self.call(settings, |own, window| own.on_spurious(settings, window, prior));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Sets the window and the threshold to these values.
    #[derive(Clone, Debug)]
    struct Fixed(Window);

    impl CustomController for Fixed {
        fn on_ack(&mut self, _settings: &Settings<'_>, window: &mut Window, _ack: &Ack) {
            *window = self.0;
        }

        fn on_congestion_event(
            &mut self,
            _settings: &Settings<'_>,
            window: &mut Window,
            _cause: Cause,
            _flight: u32,
        ) {
            *window = self.0;
        }
    }

    /// The message of the panic when a loss sets the window and the threshold to these values.
    fn refusal(cwnd: u32, ssthresh: u32) -> Option<String> {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let own = Box::new(Fixed(Window { cwnd, ssthresh }));
        let mut custom = Custom { window: cfg.new_window(), own }.clone();
        let event = || custom.on_congestion_event(&cfg.settings(), Cause::Loss, 10_000);
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(event)).err()?;
        Some(panic.downcast_ref::<String>().unwrap().clone())
    }

    #[test]
    fn a_window_with_which_the_connection_could_stop_is_refused() {
        assert_eq!(refusal(1000, 1000), None);
        assert_eq!(refusal(LARGEST_WINDOW, u32::MAX), None);
        let window =
            Some("the congestion controller set the window to 999 bytes: expected 1000 to 1073725440");
        assert_eq!(refusal(999, 1000).as_deref(), window);
        assert!(refusal(LARGEST_WINDOW + 1, 1000).is_some());
        let threshold =
            Some("the congestion controller set the threshold to 0 bytes: expected at least 1000");
        assert_eq!(refusal(1000, 0).as_deref(), threshold);
    }
}
