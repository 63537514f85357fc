//! A congestion controller of your own: general additive increase, multiplicative decrease, to be changed.
//!
//! The window grows by `increase` segments when a window has been acknowledged, and a loss or mark leaves `kept` percent
//! of the flight (Yang and Lam, "General AIMD congestion control", ICNP 2000). With 1 and 50, this is Reno.

use weft_plugin::{Ack, Cause, CongestionController, CustomController, ParamInfo, Settings, Window, params};

weft_plugin::export!(congestion Aimd);

params! {
    /// The parameters, which scenarios set in [transport]; Weft checks their values.
    #[derive(Clone, Debug)]
    struct Parameters {
        /// segments by which the window grows when a window has been acknowledged
        increase: u32 = 1, in 1..=100;
        /// percent of the flight that a loss or mark leaves
        kept: u32 = 80, in 1..=99;
    }
}

/// One connection.
#[derive(Clone, Debug)]
struct Aimd {
    parameters: Parameters,
    /// Bytes acknowledged since the window last grew in congestion avoidance.
    counted: u32,
}

impl CongestionController for Aimd {
    // The name in scenarios: transport.congestion_control = "aimd".
    const NAME: &'static str = "aimd";
    const SUMMARY: &'static str = "general additive increase, multiplicative decrease";
    const SOURCE: &'static str = "Yang and Lam, ICNP 2000";
    const PARAMS: &'static [ParamInfo] = Parameters::PARAMS;

    fn new(settings: &Settings<'_>) -> Self {
        Self { parameters: Parameters::of(settings.own), counted: 0 }
    }
}

impl CustomController for Aimd {
    fn on_ack(&mut self, settings: &Settings<'_>, window: &mut Window, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        // Slow start uses the bytes up to the threshold.
        let Some(bytes) = window.slow_start(settings, ack.bytes) else { return };
        self.counted = self.counted.saturating_add(bytes);
        if self.counted >= window.cwnd {
            self.counted = (self.counted - window.cwnd).min(window.cwnd);
            window.grow(self.parameters.increase * settings.segment);
        }
    }

    fn on_congestion_event(
        &mut self,
        settings: &Settings<'_>,
        window: &mut Window,
        _cause: Cause,
        flight: u32,
    ) {
        let kept = u64::from(flight) * u64::from(self.parameters.kept) / 100;
        window.reduce((kept as u32).max(2 * settings.segment));
    }
}

#[cfg(test)]
mod tests {
    use weft_plugin::{Config, Outcome, simulate_congestion};

    use super::*;

    #[test]
    fn every_flow_arrives() {
        // The first run of the scenario with this controller, with fewer flows.
        let scenario = include_str!("../compare.toml");
        let outcome = simulate_congestion::<Aimd>(scenario, &["run.duration=100 ms", "run.seeds=1"]);
        let Outcome { report, flows } = outcome.unwrap();
        assert!(report.flows_started > 10, "{} flows", report.flows_started);
        assert_eq!(report.flows_finished, report.flows_started);
        assert_eq!(flows.len() as u64, report.flows_started);
    }

    #[test]
    fn a_loss_leaves_80_percent_of_the_flight() {
        let config = Config::profile("linux").unwrap();
        let mut window = Window { cwnd: 100_000, ssthresh: u32::MAX };
        Aimd::new(&config.settings()).on_congestion_event(
            &config.settings(),
            &mut window,
            Cause::Loss,
            50_000,
        );
        assert_eq!(window, Window { cwnd: 40_000, ssthresh: 40_000 });
    }
}
