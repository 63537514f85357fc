//! Congestion control: how much may be in flight, and how fast it leaves.
//!
//! One file per controller. Each implements [`Controller`](controller::Controller) (`controller.rs`), owns its
//! [`Window`] (`window.rs`) and reads its [`Settings`] (`settings.rs`). `any.rs` selects one by an enum, so that an
//! ACK costs no indirect call.

/// All controllers, for the macro `$each`: the names in scenarios, the file of each, and `Parameters` if it has any.
macro_rules! controllers {
    ($each:ident) => {
        $each! {
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
    };
}

pub(crate) mod any;
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
mod settings;
mod window;

use weft_units::{Given, params, words};

use crate::parameters::ConfigError;

pub(crate) use controller::Path;
pub use controller::{Ack, Cause, Delivered, Timeout};
pub use custom::{Code, ControllerInfo, CustomController, Duplicate};
pub use pacing_rate::PacingRate;
pub use settings::{Settings, WindowGrowth};
pub use window::Window;

/// Declares the choices of the config, and the parameters of all controllers.
macro_rules! choices {
    (
        own: $($(#[doc = $own_doc:literal])+ $Own:ident = $word:literal: $own:ident $(, $Parameters:ident)?;)*
        coupled: $($(#[doc = $coupled_doc:literal])+ $Coupled:ident = $coupled_word:literal: $coupled:ident;)*
    ) => {
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

        impl CongestionControl {
            /// Checks the parameters of this controller, with `marks_reported` if receivers report which packets were
            /// marked.
            pub(crate) fn validate(self, all: &Parameters, marks_reported: bool) -> Result<(), ConfigError> {
                match self {
                    $($(Self::$Own => <$own::$Parameters>::validate(&all.$own, marks_reported),)?)*
                    _ => Ok(()),
                }
            }
        }
    };
}

controllers!(choices);
