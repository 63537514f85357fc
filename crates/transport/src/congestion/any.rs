//! [`AnyController`]: the controller of a connection, selected by an enum.

use weft_units::{Duration, Time};

use super::controller::{Ack, Cause, Controller, Delivered, Path, Timeout};
use super::custom::Custom;
use super::pacing_rate::PacingRate;
use super::window::Window;
use super::{CongestionControl, MptcpCongestion};
use crate::config::Config;

/// The settings of a controller, with the parameters of its file if it has some.
macro_rules! settings {
    ($cfg:ident) => {
        &$cfg.settings_with(&())
    };
    ($cfg:ident $own:ident $Parameters:ident) => {
        &$cfg.settings_with(&$cfg.congestion.$own)
    };
}

/// Declares [`AnyController`].
macro_rules! any {
    (
        own: $($(#[$own_doc:meta])+ $Own:ident = $word:literal: $own:ident $(, $Parameters:ident)?;)*
        coupled: $($(#[$coupled_doc:meta])+ $Coupled:ident = $coupled_word:literal: $coupled:ident;)*
    ) => {
        $(use super::$own::$Own;)*
        $(use super::$coupled::$Coupled;)*

        delegate! { $($Own $(($own $Parameters))?)* $($Coupled)* Custom(custom Given) }

        impl AnyController {
            /// The controller that `congestion_control` names.
            fn own(cfg: &Config, window: Window) -> Self {
                match cfg.congestion_control {
                    $(CongestionControl::$Own => {
                        Self::$Own($Own::new(settings!(cfg $($own $Parameters)?), window))
                    })*
                    CongestionControl::Custom(info) => {
                        Self::Custom(Custom::new(info, settings!(cfg custom Given), window))
                    }
                }
            }

            /// The controller that `mptcp_congestion` names; `None`: subflows are not coupled.
            fn coupled(cfg: &Config, window: Window) -> Option<Self> {
                match cfg.mptcp_congestion {
                    MptcpCongestion::Uncoupled => None,
                    $(MptcpCongestion::$Coupled => {
                        Some(Self::$Coupled($Coupled::new(settings!(cfg), window)))
                    })*
                }
            }
        }
    };
}

/// The enum, and the methods of its controllers.
#[rustfmt::skip]
macro_rules! delegate {
    ($($name:ident $(($own:ident $Parameters:ident))?)*) => {
        /// Any controller. Each is `repr(C)` with its window first, so that [`AnyController::state`] needs no branch.
        #[derive(Clone, Debug)]
        #[repr(C, u8)]
        pub(crate) enum AnyController { $($name($name)),* }

        /// As [`Controller`], with the settings of the controller taken from the configuration.
        impl AnyController {
            #[inline]
            pub(crate) fn state(&self) -> &Window { match self { $(Self::$name(own) => own.state(),)* } }
            #[inline]
            pub(crate) fn on_sent(&mut self, now: Time, bytes: u32) {
                match self { $(Self::$name(own) => own.on_sent(now, bytes),)* }
            }
            #[inline]
            pub(crate) fn on_delivered(&mut self, cfg: &Config, delivered: &Delivered) {
                match self { $(Self::$name(own) => own.on_delivered(settings!(cfg $($own $Parameters)?), delivered),)* }
            }
            #[inline]
            pub(crate) fn on_ack(&mut self, cfg: &Config, ack: &Ack) {
                match self { $(Self::$name(own) => own.on_ack(settings!(cfg $($own $Parameters)?), ack),)* }
            }
            pub(crate) fn on_congestion_event(&mut self, cfg: &Config, cause: Cause, flight: u32) {
                match self {
                    $(Self::$name(own) => own.on_congestion_event(settings!(cfg $($own $Parameters)?), cause, flight),)*
                }
            }
            pub(crate) fn on_timeout(&mut self, cfg: &Config, timeout: &Timeout) {
                match self { $(Self::$name(own) => own.on_timeout(settings!(cfg $($own $Parameters)?), timeout),)* }
            }
            pub(crate) fn on_spurious(&mut self, cfg: &Config, prior: Window) {
                match self { $(Self::$name(own) => own.on_spurious(settings!(cfg $($own $Parameters)?), prior),)* }
            }
            pub(crate) fn on_recovery(&mut self, window: u32) {
                match self { $(Self::$name(own) => own.on_recovery(window),)* }
            }
            pub(crate) fn on_idle(&mut self, cfg: &Config) {
                match self { $(Self::$name(own) => own.on_idle(cfg.new_window()),)* }
            }
            pub(crate) fn on_restart(&mut self, cfg: &Config) {
                match self { $(Self::$name(own) => own.on_restart(cfg.new_window()),)* }
            }
            #[inline]
            pub(crate) fn on_paths(&mut self, paths: &[Path], own_path: usize, acked: u64) {
                match self { $(Self::$name(own) => own.on_paths(paths, own_path, acked),)* }
            }
            #[inline]
            pub(crate) fn window(&self) -> u32 { match self { $(Self::$name(own) => own.window(),)* } }
            #[inline]
            pub(crate) fn ssthresh(&self) -> u32 { match self { $(Self::$name(own) => own.ssthresh(),)* } }
            pub(crate) fn pacing_rate(&self, flight: u32, srtt: Duration) -> Option<PacingRate> {
                match self { $(Self::$name(own) => own.pacing_rate(flight, srtt),)* }
            }
            pub(crate) fn alpha(&self) -> Option<f64> { match self { $(Self::$name(own) => own.alpha(),)* } }
            #[inline]
            pub(crate) fn between_losses(&self, acked: u64) -> f64 {
                match self { $(Self::$name(own) => own.between_losses(acked),)* }
            }
        }
    };
}

controllers!(any);

/// The controller of a new connection.
#[cold]
fn allocate(cfg: &Config) -> Box<AnyController> {
    Box::new(AnyController::own(cfg, cfg.new_window()))
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
        self.0.as_ref().map_or_else(|| cfg.new_window(), |controller| *controller.state())
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
