//! Congestion control: how much may be in flight, and how fast it leaves.
//!
//! One file per controller. Each implements [`Controller`] (`controller.rs`) and owns its [`Window`] (`window.rs`).
//! [`AnyController`] selects one by an enum, so that an ACK costs no indirect call.

mod balia;
mod controller;
mod coupled;
pub mod cubic;
mod custom;
pub mod dctcp;
pub mod hystart;
mod lia;
mod olia;
mod pacing_rate;
mod reno;
mod window;

use weft_units::{Duration, Given, Time, params, words};

use crate::config::Config;
use crate::parameters::ConfigError;

use custom::Custom;

pub use controller::{Ack, Cause, Delivered, Timeout};
pub(crate) use controller::{Controller, Path};
pub use custom::{Code, ControllerInfo, CustomController, Duplicate};
pub use pacing_rate::PacingRate;
pub use window::Window;

/// Declares all controllers: the choices of the config, their parameters, and [`AnyController`]. Behind a name is its
/// file, which has `Parameters` if they stand behind that.
macro_rules! controllers {
    (
        own: $($(#[doc = $own_doc:literal])+ $Own:ident = $word:literal: $own:ident $(, $Parameters:ident)?;)*
        coupled: $($(#[doc = $coupled_doc:literal])+ $Coupled:ident = $coupled_word:literal: $coupled:ident;)*
    ) => {
        $(use $own::$Own;)*
        $(use $coupled::$Coupled;)*

        delegate! { $($Own)* $($Coupled)* Custom }

        words! {
            /// The congestion control algorithm.
            pub enum CongestionControl {
                $($(#[doc = $own_doc])+ $Own = $word,)*
                ..Custom(&'static ControllerInfo) = name,
            }
        }

        words! {
            /// How the windows of a connection's subflows are coupled.
            pub enum MptcpCongestion {
                /// Not at all: each subflow has its own `congestion_control`.
                Uncoupled = "uncoupled",
                $($(#[doc = $coupled_doc])+ $Coupled = $coupled_word,)*
            }
        }

        params! {
            /// The parameters of all controllers; a scenario has them beside TCP's.
            #[derive(Clone, PartialEq, Debug)]
            pub struct Parameters {
                $($(..$own: $own::$Parameters;)?)*
            }
            fixed {
                /// Those of a custom controller that are given.
                custom: Given = Given::new();
            }
        }

        impl Parameters {
            /// Checks what the types cannot.
            pub(crate) fn validate(&self, cfg: &Config) -> Result<(), ConfigError> {
                $($(<$own::$Parameters>::validate(&self.$own, cfg)?;)?)*
                Ok(())
            }
        }

        impl AnyController {
            /// The controller that `congestion_control` names.
            fn own(cfg: &Config, window: Window) -> Self {
                match cfg.congestion_control {
                    $(CongestionControl::$Own => Self::$Own($Own::new(cfg, window)),)*
                    CongestionControl::Custom(info) => Self::Custom(Custom::new(info, cfg, window)),
                }
            }

            /// The controller that `mptcp_congestion` names; `None`: subflows are not coupled.
            fn coupled(cfg: &Config, window: Window) -> Option<Self> {
                match cfg.mptcp_congestion {
                    MptcpCongestion::Uncoupled => None,
                    $(MptcpCongestion::$Coupled => Some(Self::$Coupled($Coupled::new(cfg, window))),)*
                }
            }
        }
    };
}

/// The enum, and [`Controller`] by delegation.
#[rustfmt::skip]
macro_rules! delegate {
    ($($name:ident)*) => {
        /// Any controller. Each is `repr(C)` with its window first, so that [`Controller::state`] needs no branch.
        #[derive(Clone, Debug)]
        #[repr(C, u8)]
        pub(crate) enum AnyController { $($name($name)),* }

        impl Controller for AnyController {
            #[inline]
            fn state(&self) -> &Window { match self { $(Self::$name(own) => own.state(),)* } }
            #[inline]
            fn state_mut(&mut self) -> &mut Window { match self { $(Self::$name(own) => own.state_mut(),)* } }
            #[inline]
            fn on_sent(&mut self, now: Time, bytes: u32) {
                match self { $(Self::$name(own) => own.on_sent(now, bytes),)* }
            }
            #[inline]
            fn on_delivered(&mut self, cfg: &Config, delivered: &Delivered) {
                match self { $(Self::$name(own) => own.on_delivered(cfg, delivered),)* }
            }
            #[inline]
            fn on_ack(&mut self, cfg: &Config, ack: &Ack) {
                match self { $(Self::$name(own) => own.on_ack(cfg, ack),)* }
            }
            fn on_congestion_event(&mut self, cfg: &Config, cause: Cause, flight: u32) {
                match self { $(Self::$name(own) => own.on_congestion_event(cfg, cause, flight),)* }
            }
            fn on_timeout(&mut self, cfg: &Config, timeout: &Timeout) {
                match self { $(Self::$name(own) => own.on_timeout(cfg, timeout),)* }
            }
            fn on_spurious(&mut self, cfg: &Config, prior: Window) {
                match self { $(Self::$name(own) => own.on_spurious(cfg, prior),)* }
            }
            fn on_recovery(&mut self, window: u32) {
                match self { $(Self::$name(own) => own.on_recovery(window),)* }
            }
            fn on_idle(&mut self, cfg: &Config) { match self { $(Self::$name(own) => own.on_idle(cfg),)* } }
            fn on_restart(&mut self, cfg: &Config) { match self { $(Self::$name(own) => own.on_restart(cfg),)* } }
            #[inline]
            fn on_paths(&mut self, paths: &[Path], own_path: usize, acked: u64) {
                match self { $(Self::$name(own) => own.on_paths(paths, own_path, acked),)* }
            }
            #[inline]
            fn window(&self) -> u32 { match self { $(Self::$name(own) => own.window(),)* } }
            #[inline]
            fn ssthresh(&self) -> u32 { match self { $(Self::$name(own) => own.ssthresh(),)* } }
            fn pacing_rate(&self, flight: u32, srtt: Duration) -> Option<PacingRate> {
                match self { $(Self::$name(own) => own.pacing_rate(flight, srtt),)* }
            }
            fn alpha(&self) -> Option<f64> { match self { $(Self::$name(own) => own.alpha(),)* } }
            #[inline]
            fn between_losses(&self, acked: u64) -> f64 {
                match self { $(Self::$name(own) => own.between_losses(acked),)* }
            }
        }
    };
}

controllers! {
    own:
        /// RFC 5681.
        Reno = "reno": reno;
        /// RFC 9438.
        Cubic = "cubic": cubic, Parameters;
        /// RFC 8257; needs `ecn = "dctcp"`.
        Dctcp = "dctcp": dctcp, Parameters;
    coupled:
        /// RFC 6356.
        Lia = "lia": lia;
        /// Opportunistic linked increases (Khalili et al., IEEE/ACM ToN 2013).
        Olia = "olia": olia;
        /// Balanced linked adaptation (Peng et al., IEEE/ACM ToN 2016).
        Balia = "balia": balia;
}

/// The controller of a new connection.
#[cold]
fn allocate(cfg: &Config) -> Box<AnyController> {
    Box::new(AnyController::own(cfg, Window::new(cfg)))
}

/// The controller of one connection, allocated on first use: a side that only receives has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Congestion(Option<Box<AnyController>>);

impl Congestion {
    /// The controller.
    #[inline]
    pub(crate) fn controller(&mut self, cfg: &Config) -> &mut AnyController {
        self.0.get_or_insert_with(|| allocate(cfg))
    }

    /// The controller; `None` before the first use.
    #[inline]
    pub(crate) fn existing(&self) -> Option<&AnyController> {
        self.0.as_deref()
    }

    /// The controller, to tell it of an event that changes nothing before the first use.
    #[inline]
    pub(crate) fn existing_mut(&mut self) -> Option<&mut AnyController> {
        self.0.as_deref_mut()
    }

    /// The window and the threshold, before the first use the initial ones.
    #[inline]
    pub(crate) fn state(&self, cfg: &Config) -> Window {
        self.0.as_ref().map_or_else(|| Window::new(cfg), |controller| *controller.state())
    }

    /// Switches to the coupled controller of a multipath connection, if it is coupled. The window stays.
    pub(crate) fn couple(&mut self, cfg: &Config) {
        if let Some(coupled) = AnyController::coupled(cfg, self.state(cfg)) {
            self.0 = Some(Box::new(coupled));
        }
    }

    /// Switches to a new controller of plain TCP. The window stays.
    pub(crate) fn uncouple(&mut self, cfg: &Config) {
        self.0 = Some(Box::new(AnyController::own(cfg, self.state(cfg))));
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |_| size_of::<AnyController>())
    }
}
