//! Reno once more, as a module: the built-in controller must give the same results. It can also fail in the ways of a
//! controller.

use weft_plugin::{Ack, Cause, CongestionController, CustomController, ParamInfo, Settings, Window, params};

weft_plugin::export!(congestion RenoAgain);

params! {
    #[derive(Clone, Debug)]
    struct Parameters {
        /// ACKs of a connection after which it panics
        fail_after: u64 = u64::MAX, in 1..=1_000_000, elsewhere "nowhere";
        /// bytes to which each ACK sets the window; 0: that of Reno
        wild_window: u32 = 0;
    }
}

/// One connection.
#[derive(Clone, Debug)]
struct RenoAgain {
    parameters: Parameters,
    counted: u32,
}

impl CongestionController for RenoAgain {
    const NAME: &'static str = "reno_again";
    const SUMMARY: &'static str = "Reno as a plugin";
    const SOURCE: &'static str = "RFC 5681";
    const PARAMS: &'static [ParamInfo] = Parameters::PARAMS;

    fn new(settings: &Settings<'_>) -> Self {
        Self { parameters: Parameters::of(settings.own), counted: 0 }
    }
}

impl CustomController for RenoAgain {
    fn on_ack(&mut self, settings: &Settings<'_>, window: &mut Window, ack: &Ack) {
        let Parameters { fail_after, wild_window } = &mut self.parameters;
        assert!(*fail_after > 0, "no more ACKs than the scenario allows");
        *fail_after -= 1;
        if *wild_window > 0 {
            window.cwnd = *wild_window;
            return;
        }
        if !ack.may_grow {
            return;
        }
        let Some(bytes) = window.slow_start(settings, ack.bytes) else { return };
        self.counted += bytes;
        if self.counted >= window.cwnd {
            self.counted = (self.counted - window.cwnd).min(window.cwnd);
            window.grow(settings.segment);
        }
    }

    fn on_congestion_event(
        &mut self,
        settings: &Settings<'_>,
        window: &mut Window,
        _cause: Cause,
        flight: u32,
    ) {
        window.reduce((flight / 2).max(2 * settings.segment));
    }
}
