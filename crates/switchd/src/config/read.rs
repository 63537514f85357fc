//! Parses text and flags into a [`Config`]: all errors are reported at once, each with its position.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use thiserror::Error;
use weft_fabric::Overhead;
use weft_switching::exploration::Scope;
use weft_units::{Duration, params, reason, words};

use super::diagnostic::{Problem, Problems, suggest};
use super::table::{Table, parse};
use super::{Access, Config, exploration, keys, leaves, routes};
use crate::Mode;
use crate::layout::MAX_PORTS;
use crate::names::SwitchName;
use crate::tags::config as tags;

words! {
    /// Where next hops come from.
    #[derive(Default)]
    pub(super) enum Routes {
        /// `[[route]]` alone.
        #[default]
        Configured = "configured",
        /// For stations of `[[leaf]]`, the kernel's routes to the leaf.
        Kernel = "kernel",
    }
}

words! {
    /// Whether Hello messages withdraw routes.
    #[derive(Default)]
    pub(super) enum Reach {
        /// They say which stations the switch does not reach, and those of neighbours count.
        #[default]
        On = "on",
        /// Neither.
        Off = "off",
    }
}

params! {
    /// Keys outside of all sections.
    pub(super) struct Top {
        /// 1 at hosts, increasing upwards, 0: unknown; required by `exploration = "valley-free"`
        tier: u8 = 0, in 0..=u8::MAX;
        /// largest packet of hosts in bytes; ports with a smaller MTU are not used
        mtu: u32 = Overhead::MTU as u32, in 576..=65_535;
        /// modes `ecmp` and `spray`: source of next hops: `[[route]]`, or also the kernel's routes to each `[[leaf]]` ([FRR](linux-switch.md#routes-from-frr)): kernel, configured
        routes: Routes = Routes::Configured;
    }
}

params! {
    /// The section `[hello]`.
    pub(super) struct Hello {
        /// time between Hello messages
        interval: Duration = Duration::from_secs(1), in Duration::from_ms(50)..=Duration::from_secs(60);
        /// hold time in intervals
        hold: u64 = 3, in 2..=100;
        /// whether Hello messages announce stations that are not [reached](linux-switch.md#reachability), and withdraw routes: on, off
        reach: Reach = Reach::On;
    }
}

/// Command-line flags, which override the file.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The name of the switch.
    pub name: Option<SwitchName>,
    /// The forwarding mode.
    pub mode: Option<String>,
    /// Its interfaces.
    pub ports: Vec<String>,
    /// Its tier.
    pub tier: Option<u8>,
}

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file could not be read.
    #[error("cannot read the configuration {path}: {}", reason(error), path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The text has errors.
    #[error(transparent)]
    Text(#[from] Problems),
    /// The file of routes has errors.
    #[error("{0}")]
    Routes(String),
}

impl Config {
    /// Reads the file, if one is given; flags override it.
    ///
    /// # Errors
    /// [`ConfigError`], with all errors found.
    pub fn load(path: Option<&Path>, flags: &Flags) -> Result<Self, ConfigError> {
        let text = path.map(std::fs::read_to_string).transpose();
        let file = |error| ConfigError::File { path: path.map(Path::to_owned).unwrap_or_default(), error };
        let text = text.map_err(file)?.unwrap_or_default();
        let name = path.map_or_else(|| "command line".to_owned(), |path| path.display().to_string());
        let folder = path.and_then(Path::parent).unwrap_or(Path::new("."));
        let mut config = Self::read(&name, &text, folder, flags)?;
        if let Some(path) = &config.routes_file {
            let (routes, leaves) = routes::read_file(path, &config.ports).map_err(ConfigError::Routes)?;
            config.routes.extend(routes);
            config.leaves.extend(leaves);
            let wrong = |why| ConfigError::Routes(format!("routes_file {}: {why}", path.display()));
            routes::check(&config.routes, config.exploration.stations).map_err(wrong)?;
            let leaves = leaves::check(&config.leaves, config.routes.len(), config.exploration.stations);
            leaves.map_err(wrong)?;
            config.check_kernel().map_err(|(what, how)| wrong(format!("{what}: {how}")))?;
        }
        Ok(config)
    }

    /// Checks that leaves are there if their routes are read from the kernel, and only then.
    fn check_kernel(&self) -> Result<(), (&'static str, &'static str)> {
        match (self.uses_kernel, self.leaves.is_empty()) {
            (true, true) => Err((
                "`routes = \"kernel\"` without `[[leaf]]`",
                "list the stations of each leaf: [[leaf]] address = \"10.0.0.3\" stations = [\"02:00:00:00:00:03\"]",
            )),
            (false, false) => Err((
                "`[[leaf]]` without `routes = \"kernel\"`",
                "set routes = \"kernel\", or remove all [[leaf]]",
            )),
            _ => Ok(()),
        }
    }

    /// Reads a text, called `name` in messages; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// All errors found.
    pub fn read(name: &str, text: &str, folder: &Path, flags: &Flags) -> Result<Self, Problems> {
        let entries = parse(text).map_err(|problem| Problems::new(name, text, vec![problem]))?;
        let problems = RefCell::new(Vec::new());
        let config = read(Table::top(entries.get_ref(), &problems), folder, flags, &problems);
        match config {
            Some(config) if problems.borrow().is_empty() => Ok(config),
            _ => Err(Problems::new(name, text, problems.into_inner())),
        }
    }
}

fn read(top: Table<'_>, folder: &Path, flags: &Flags, problems: &RefCell<Vec<Problem>>) -> Option<Config> {
    let lacks = |what: &str, how: &str| problems.borrow_mut().push(Problem::whole(what, how));
    let name = top.parsed("name", |text| text.parse::<SwitchName>().map_err(|wrong| wrong.to_string()));
    let name = match &flags.name {
        Some(given) => Some(given.clone()),
        None => name.map(|(name, _)| name).or_else(|| (!top.has("name")).then(SwitchName::standard)),
    };
    let mode = read_mode(&top, flags, &lacks);
    let ports = read_ports(&top, flags, &lacks);
    let Top { tier, mtu, routes: source } = Top::of(&top.params(Top::PARAMS).0);
    let fabric_ports = read_fabric_ports(&top, &ports);
    let switch_id = top.parsed("switch_id", switch_id).map(|(id, _)| id);
    let hello_keys = keys::read(&top, folder);
    let metrics = top.parsed("metrics", |text| {
        text.parse::<SocketAddr>()
            .map_err(|_| "expected an address and a port, such as \"127.0.0.1:19465\"".into())
    });
    let control = read_access(&top);
    let (hello_interval, hello_hold, reach) = read_hello(&top);
    let section = top.table("exploration", "[exploration]");
    let of_mode = mode.unwrap_or(Mode::TcpPath);
    let (scheme, mut exploration) = exploration::read(section, of_mode, hello_interval, hello_hold);
    let (tagging, misses) = tags::read(top.table("tags", "[tags]"));
    if of_mode.has_gates() {
        (exploration.rate, exploration.burst) = misses;
    }
    if let Some(mode) = mode.filter(|mode| !mode.has_gates())
        && top.has("tags")
    {
        let message = format!("`[tags]` does not apply to mode `{}`", mode.word());
        lacks(&message, "remove it, or use a mode with gates: tag-forward, flow-table");
    }
    let routes = routes::read(&top, &ports);
    let leaves = leaves::read(&top);
    let uses_kernel = source == Routes::Kernel;
    let routes_file = top.text("routes_file").map(|(path, _)| folder.join(path));
    if let Some(mode) = mode.filter(|mode| !mode.routes())
        && (!routes.is_empty() || routes_file.is_some() || uses_kernel || !leaves.is_empty())
    {
        let message = match mode.has_gates() {
            true => format!("routes do not apply to mode `{}`: it uses gates and rules", mode.word()),
            false => format!("routes do not apply to mode `{}`: it finds paths itself", mode.word()),
        };
        lacks(&message, "remove them, or use a mode with routes: ecmp, spray");
    }
    if let Err(why) = routes::check(&routes, exploration.stations) {
        lacks(&why, "remove routes, or raise `station_table` in [exploration]");
    }
    if let Err(why) = leaves::check(&leaves, routes.len(), exploration.stations) {
        lacks(&why, "remove stations, or raise `station_table` in [exploration]");
    }
    if uses_kernel && fabric_ports.is_none() {
        lacks(
            "`routes = \"kernel\"`, but `fabric_ports` is not set",
            "list the ports that lead to switches, fabric_ports = [\"eth1\", \"eth2\"]: messages of the routing protocol \
             are accepted only there",
        );
    }
    let tier = flags.tier.unwrap_or(tier);
    if exploration.scope == Scope::ValleyFree && tier == 0 {
        lacks(
            "`exploration` is \"valley-free\", but `tier` is not set",
            "set the tier of this switch: tier = 1 if hosts are attached to it",
        );
    }
    top.finish();
    let config = Config {
        name: name?,
        mode: mode?,
        ports,
        tier,
        fabric_ports,
        switch_id,
        hello_keys,
        hello_interval,
        hello_hold,
        control,
        metrics: metrics.map(|(address, _)| address),
        mtu,
        scheme,
        exploration,
        routes,
        uses_kernel,
        leaves,
        announces_reach: reach == Reach::On,
        routes_file,
        tagging,
    };
    // A file of leaves is read later.
    if config.routes_file.is_none()
        && let Err((what, how)) = config.check_kernel()
    {
        lacks(what, how);
    }
    Some(config)
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::of_name(text).ok_or_else(|| suggest(text, Mode::WORDS.iter().copied()))
}

fn read_mode(top: &Table<'_>, flags: &Flags, lacks: &dyn Fn(&str, &str)) -> Option<Mode> {
    let written = top.parsed("mode", mode);
    match &flags.mode {
        Some(given) => mode(given).map_err(|how| lacks(&format!("unknown mode {given:?}"), &how)).ok(),
        None => {
            if !top.has("mode") {
                lacks(
                    "no `mode`",
                    "set the forwarding mode: mode = \"tcp-path\" in the file, or --mode tcp-path",
                );
            }
            written.map(|(mode, _)| mode)
        }
    }
}

fn read_ports(top: &Table<'_>, flags: &Flags, lacks: &dyn Fn(&str, &str)) -> Vec<String> {
    let written = top.texts("ports");
    if !flags.ports.is_empty() {
        if let Some(wrong) = check_ports(flags.ports.iter().map(String::as_str)) {
            lacks(&wrong.0, &wrong.1);
        }
        return flags.ports.clone();
    }
    let Some((ports, span)) = written else {
        if !top.has("ports") {
            lacks(
                "no `ports`",
                "list the interfaces: ports = [\"eth1\", \"eth2\"] in the file, or --port eth1 --port eth2",
            );
        }
        return Vec::new();
    };
    if let Some((message, label)) = check_ports(ports.iter().map(|(port, _)| port.as_str())) {
        top.problem(span, message, label);
    }
    ports.into_iter().map(|(port, _)| port).collect()
}

/// The first error in a list of ports: message and label.
fn check_ports<'a>(ports: impl Iterator<Item = &'a str>) -> Option<(String, String)> {
    let ports: Vec<&str> = ports.collect();
    if ports.is_empty() {
        return Some(("`ports` is empty".into(), "a switch needs at least one port".into()));
    }
    if ports.len() > usize::from(MAX_PORTS) {
        let label = format!(
            "a switch has at most {MAX_PORTS} ports: use a second switch, with another name, for the rest"
        );
        return Some((format!("`ports` lists {} interfaces", ports.len()), label));
    }
    let twice = (1..ports.len()).find(|&at| ports[..at].contains(&ports[at]));
    if let Some(at) = twice {
        return Some((format!("`ports` lists {:?} twice", ports[at]), "list each interface once".into()));
    }
    // IFNAMSIZ is 16, including the terminating zero.
    let odd = |port: &&&str| port.is_empty() || port.len() > 15 || port.contains(['/', ' ']);
    let odd = ports.iter().find(odd)?;
    Some((
        format!("{odd:?} is not a valid interface name"),
        "interface names have 1 to 15 bytes, without `/` or spaces".into(),
    ))
}

fn read_fabric_ports(top: &Table<'_>, ports: &[String]) -> Option<Vec<String>> {
    if top.is_text("fabric_ports") {
        top.word("fabric_ports", &["any"]);
        return None;
    }
    let (names, _) = top.texts("fabric_ports")?;
    for (name, span) in &names {
        if !ports.contains(name) {
            let label = suggest(name, ports.iter().map(String::as_str));
            top.problem(span.clone(), format!("{name:?} is not a port of this switch"), label);
        }
    }
    Some(names.into_iter().map(|(name, _)| name).collect())
}

fn switch_id(text: &str) -> Result<u64, String> {
    let digits = text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit());
    let id = if digits { u64::from_str_radix(text, 16).ok() } else { None };
    id.ok_or_else(|| "expected 16 hexadecimal digits, such as \"0123456789abcdef\"".to_owned())
}

fn read_access(top: &Table<'_>) -> Access {
    let control = top.table("control", "[control]");
    let group = control.text("group").map(|(group, _)| group);
    let mode = control.parsed("mode", |text| {
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
        mode.ok_or_else(|| "expected permissions in octal, such as \"0660\"".to_owned())
    });
    control.finish();
    Access { group, mode: mode.map_or(0o600, |(mode, _)| mode) }
}

fn read_hello(top: &Table<'_>) -> (Duration, Duration, Reach) {
    let hello = top.table("hello", "[hello]");
    let Hello { interval, hold, reach } = Hello::of(&hello.params(Hello::PARAMS).0);
    hello.finish();
    (interval, interval * hold, reach)
}
