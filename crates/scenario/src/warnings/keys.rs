//! Warnings of keys that another key leaves without effect.

use weft_fabric::{Fabric, Link};
use weft_transport::roce::{CongestionControl, LossRecovery};
use weft_transport::udp::Pattern;
use weft_transport::uec::Congestion;
use weft_transport::{Mptcp, Protocol};

use crate::settings::Settings;

/// Keys of [transport] that have no effect with some values of another key.
struct Rule {
    /// Whether it is about this key.
    has: fn(&str) -> bool,
    /// The other key. With a sweep over it, keys are meant for its other points.
    decides: &'static str,
    /// The value of the other key, if the keys have no effect with it.
    value: fn(&Settings) -> Option<&str>,
    /// What the value means, or what to do.
    advice: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        has: |key| key == "subflows" || key.starts_with("mptcp_"),
        decides: "transport.mptcp",
        value: |of| (of.transport.protocol.tcp()?.mptcp == Mptcp::Off).then_some("off"),
        advice: ": set it to \"ndiffports\" or \"fullmesh\"",
    },
    Rule {
        has: |key| key == "subflows",
        decides: "transport.mptcp",
        value: |of| (of.transport.protocol.tcp()?.mptcp == Mptcp::Fullmesh).then_some("fullmesh"),
        advice: ", which opens a subflow for each pair of links of the two hosts",
    },
    Rule {
        has: |key| matches!(key, "mean_on" | "mean_off"),
        decides: "transport.pattern",
        value: |of| match &of.transport.protocol {
            Protocol::Udp(config) if config.pattern == Pattern::Constant => Some("constant"),
            _ => None,
        },
        advice: ": set it to \"on-off\"",
    },
    Rule {
        has: |key| matches!(key, "rto_low" | "rto_high" | "rto_low_packets"),
        decides: "transport.loss_recovery",
        value: |of| match &of.transport.protocol {
            Protocol::Roce(config) if config.loss_recovery == LossRecovery::GoBackN => Some("go-back-n"),
            _ => None,
        },
        advice: ": set retransmission_timeout",
    },
    Rule {
        has: |key| key == "retransmission_timeout",
        decides: "transport.loss_recovery",
        value: |of| match &of.transport.protocol {
            Protocol::Roce(config) if config.loss_recovery == LossRecovery::SelectiveRepeat => {
                Some("selective-repeat")
            }
            _ => None,
        },
        advice: ": set rto_low and rto_high",
    },
    Rule {
        has: |key| {
            let of_dcqcn = [
                "cnp_interval",
                "cnp_on_out_of_order",
                "rate_on_first_cnp",
                "alpha_gain",
                "alpha_interval",
                "decrease_interval",
                "increase_interval",
                "increase_bytes",
                "fast_recovery_times",
                "additive_increase",
                "hyper_increase",
                "min_rate",
                "clamp_target_rate",
            ];
            of_dcqcn.contains(&key)
        },
        decides: "transport.congestion_control",
        value: |of| match &of.transport.protocol {
            Protocol::Roce(config) if config.congestion_control == CongestionControl::Off => Some("off"),
            _ => None,
        },
        advice: ": set it to \"dcqcn\"",
    },
    Rule {
        has: |key| key == "window",
        decides: "transport.congestion",
        value: |of| match &of.transport.protocol {
            Protocol::Uec(config) if config.congestion == Congestion::Nscc => Some("nscc"),
            _ => None,
        },
        advice: ": set it to \"fixed\"",
    },
    Rule {
        has: |key| matches!(key, "base_rtt" | "target_delay"),
        decides: "transport.congestion",
        value: |of| match &of.transport.protocol {
            Protocol::Uec(config) if config.congestion == Congestion::Fixed => Some("fixed"),
            _ => None,
        },
        advice: ": set it to \"nscc\"",
    },
    Rule {
        has: |key| matches!(key, "entropies" | "entropy_choice"),
        decides: "scheme.name",
        value: |of| {
            let name = of.descriptor.name;
            let ignores = of.descriptor.explores.is_some()
                || matches!(name, "drill" | "flowcut" | "single_path" | "smoc" | "spanning_tree" | "spray");
            (matches!(of.transport.protocol, Protocol::Uec(_)) && ignores).then_some(name)
        },
        advice: ": set a scheme that hashes entropy, such as \"ecmp\"",
    },
];

/// Warns of keys of [transport] without effect.
pub(super) fn idle(settings: &Settings) -> Vec<String> {
    let warning = |rule: &Rule| {
        let keys = settings.transport_keys.iter().filter(|key| (rule.has)(key));
        let keys: Vec<String> = keys.map(|key| format!("`transport.{key}`")).collect();
        if keys.is_empty() || sweeps(settings, "transport", rule.decides) {
            return None;
        }
        let value = (rule.value)(settings)?;
        let verb = if keys.len() == 1 { "has" } else { "have" };
        let Rule { decides, advice, .. } = rule;
        Some(format!("{} {verb} no effect while {decides} is \"{value}\"{advice}", keys.join(", ")))
    };
    RULES.iter().filter_map(warning).collect()
}

/// Warns of ports that trim, and packets that they drop.
pub(super) fn untrimmed(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let any = |has: fn(&Link) -> bool| fabric.links().iter().any(has);
    let is_idle = any(|link| link.queue.trim_queue.is_some()) && !any(|link| link.queue.trim);
    if is_idle && !sweeps(settings, "", "fabric.trim") {
        return Some("`trim_queue` has no effect without `trim`: set trim = true".to_owned());
    }
    let is_tcp =
        settings.transport.protocol.tcp().is_some() && !sweeps(settings, "fabric", "transport.protocol");
    (is_tcp && fabric.links().iter().any(|link| link.queue.trim)).then(|| {
        "`trim` has no effect while transport.protocol is \"tcp\", whose packets are dropped, not cut: set it to \"uec\""
            .to_owned()
    })
}

/// Whether the sweep changes this key, alone or with its whole section, but not with `own`, the section of the idle key.
fn sweeps(settings: &Settings, own: &str, key: &str) -> bool {
    let section = key.split('.').next().filter(|section| *section != own);
    settings.swept.iter().any(|swept| swept == key || Some(swept.as_str()) == section)
}
