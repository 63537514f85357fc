//! Names that other tools and papers use for values, and those of neighbouring keys, for error messages.

use weft_transport::CongestionControl;
use weft_transport::profile::PROFILES;

/// The answer to a name that the key `path` does not have, if it is well known under another name or belongs to another key.
pub(crate) fn synonym(path: &str, name: &str) -> Option<String> {
    let plain: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let is = |names: &[&str]| names.contains(&plain.as_str());
    match path {
        "fabric.kind" => fabric(&plain).map(|kind| format!("this fabric is called `{kind}` here")),
        "scheme.name" if is(&["flowlet", "flowlets", "flowletswitching"]) => Some(
            "flowlet switching is `letflow` (random), `conga` (by load) or `clove` (at hosts)".to_owned(),
        ),
        "scheme.name" => scheme(&plain).map(|scheme| format!("this scheme is called `{scheme}` here")),
        "transport.profile" if CongestionControl::WORDS.contains(&name) => {
            Some(format!("`{name}` is congestion control: write congestion_control = \"{name}\""))
        }
        "transport.congestion_control" if PROFILES.iter().any(|(profile, _)| *profile == name) => {
            Some(format!("`{name}` is a profile: write profile = \"{name}\""))
        }
        "transport.profile" | "transport.congestion_control" => controller(&plain),
        _ if path.ends_with(".collective") && is(&["allreduce", "reduce"]) => Some(
            "an all-reduce is `ring-all-reduce`, `halving-doubling-all-reduce` or `tree-all-reduce`"
                .to_owned(),
        ),
        _ if path.ends_with(".collective") && is(&["nvls"]) => Some(
            "expected its collective: `nvls-all-reduce`, `nvls-reduce-scatter` or `nvls-all-gather`"
                .to_owned(),
        ),
        _ if path.ends_with(".collective") && is(&["nvlstree"]) => {
            Some("this all-reduce is called `nvls-tree-all-reduce` here".to_owned())
        }
        "transport.protocol" if is(&["rdma", "rocev2"]) => {
            Some("this protocol is called `roce` here".to_owned())
        }
        "transport.protocol" if is(&["ultraethernet", "uet"]) => {
            Some("this protocol is called `uec` here".to_owned())
        }
        "transport.protocol" if is(&["mptcp", "multipathtcp"]) => {
            Some("Multipath TCP is protocol = \"tcp\" with mptcp = \"ndiffports\" or \"fullmesh\"".to_owned())
        }
        _ => None,
    }
}

/// The key of the section `path` that other tools call `key`.
pub(crate) fn key_synonym(path: &str, key: &str) -> Option<&'static str> {
    let is = |keys: &[&str]| keys.contains(&key);
    let section = path.split('.').rfind(|part| part.parse::<usize>().is_err())?;
    match section {
        "fabric" if is(&["bandwidth", "speed", "capacity", "link_rate"]) => Some("rate"),
        "fabric" if is(&["latency", "link_delay"]) => Some("delay"),
        "fabric" if is(&["queue_size", "buffer_size"]) => Some("queue"),
        "fabric" if is(&["topology", "type", "name"]) => Some("kind"),
        "traffic" if is(&["size", "flow_size", "distribution", "workload", "cdf"]) => Some("sizes"),
        "traffic" if is(&["pattern", "matrix"]) => Some("pairs"),
        "flow_list" if is(&["size", "flow_size"]) => Some("bytes"),
        "flow_list" if is(&["from", "source"]) => Some("src"),
        "flow_list" if is(&["to", "destination"]) => Some("dst"),
        "scheme" if is(&["type", "kind", "algorithm", "scheme"]) => Some("name"),
        "transport" if is(&["cc", "congestion", "algorithm"]) => Some("congestion_control"),
        "run" if is(&["time", "length", "sim_time", "stop"]) => Some("duration"),
        "event" if is(&["time", "when"]) => Some("at"),
        _ => None,
    }
}

/// The kind of a fabric by another name.
fn fabric(plain: &str) -> Option<&'static str> {
    match plain {
        "leafspine" | "clos" | "clos2" | "foldedclos" | "twotier" | "twolayer" => Some("spine-leaf"),
        "clos3" | "threetier" => Some("three-layer"),
        "fullmesh" => Some("mesh"),
        "rail" | "rails" | "railoptimized" | "superpod" => Some("rail-optimised"),
        "multiplane" | "twoplane" | "hpn" => Some("dual-plane"),
        "nvl72" | "gb200" | "nvl36" | "rackscaleup" => Some("rack-scale"),
        _ => None,
    }
}

/// A scheme by another name.
fn scheme(plain: &str) -> Option<&'static str> {
    match plain {
        "rps" | "random" | "packetspray" | "packetspraying" | "ops" | "roundrobin" => Some("spray"),
        "stp" | "rstp" => Some("spanning_tree"),
        "hash" | "hashing" | "flowhash" | "ecmphash" => Some("ecmp"),
        "shortestpath" | "singlepath" | "static" => Some("single_path"),
        "weightedecmp" => Some("wcmp"),
        "digitreversal" | "digitreversalbouncing" => Some("drb"),
        _ => None,
    }
}

/// The place of a congestion controller that is no controller of TCP here.
fn controller(plain: &str) -> Option<String> {
    let protocol = match plain {
        "dcqcn" | "hpcc" | "timely" | "swift" => "roce",
        "nscc" => "uec",
        "newreno" | "tcpreno" => return Some("write congestion_control = \"reno\"".to_owned()),
        "lia" | "olia" | "balia" => {
            return Some(
                "it couples the subflows of Multipath TCP: see `coupling` in docs/transport.md".to_owned(),
            );
        }
        _ => return None,
    };
    Some(format!("it belongs to another protocol: write protocol = \"{protocol}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_tools_have_an_answer() {
        for (path, name, answer) in [
            ("fabric.kind", "leaf-spine", "`spine-leaf`"),
            ("fabric.kind", "Leaf_Spine", "`spine-leaf`"),
            ("scheme.name", "flowlet", "`letflow`"),
            ("scheme.name", "RPS", "`spray`"),
            ("transport.profile", "cubic", "congestion_control = \"cubic\""),
            ("transport.congestion_control", "linux", "profile = \"linux\""),
            ("transport.profile", "dcqcn", "protocol = \"roce\""),
            ("transport.congestion_control", "HPCC", "protocol = \"roce\""),
            ("transport.protocol", "mptcp", "mptcp = \"ndiffports\""),
        ] {
            assert!(synonym(path, name).is_some_and(|found| found.contains(answer)), "{path} {name}");
        }
        assert_eq!(synonym("fabric.kind", "torus"), None);
        assert_eq!(key_synonym("traffic.0", "pattern"), Some("pairs"));
        assert_eq!(key_synonym("run", "pattern"), None);
    }
}
