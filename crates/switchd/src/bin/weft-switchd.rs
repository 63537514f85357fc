//! The daemon of the Linux switch.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use tracing_subscriber::EnvFilter;
use weft_switchd::as_line;
use weft_switchd::config::{Config, Flags};
use weft_switchd::daemon::{self, Places, Refusal, Start};
use weft_switchd::names::SwitchName;
use weft_switchd::pins::Hook;
use weft_units::plural;

const EXAMPLES: &str = "\
Examples:
  weft-switchd --config /etc/weft/switch.toml
  weft-switchd --name s1 --mode tcp-path --port eth1 --port eth2 --port eth3
  weft-switchd --config switch.toml --check
  weft-switchd --name s1 --detach      stop the forwarding that a stopped daemon left running

Runs in the foreground. SIGTERM stops the daemon, but its ports keep forwarding; the next start
adopts them. `weftctl down` also stops forwarding. RUST_LOG=debug logs more. Configuration keys,
files and metrics: docs/switchd.md.";

/// Runs a multipath switch whose ports are network interfaces of this machine.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// Configuration file; flags override it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Name of the switch on this machine
    #[arg(long)]
    name: Option<SwitchName>,
    /// Forwarding mode
    #[arg(long)]
    mode: Option<String>,
    /// Interface to use as a port; repeatable, ports are numbered in this order
    #[arg(long = "port", value_name = "IFACE")]
    ports: Vec<String>,
    /// Tier of the switch; 1 if hosts are attached to it
    #[arg(long)]
    tier: Option<u8>,
    /// Directory of the control socket and the lock file
    #[arg(long, value_name = "DIR", default_value = Places::RUN)]
    run_dir: PathBuf,
    /// Directory where maps and attachments are pinned
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf/weft")]
    pin_dir: PathBuf,
    /// Directory of the Hello sequence numbers, kept across reboots [default: the run directory]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// How to attach the program [default: tcx if the kernel supports it]
    #[arg(long, value_enum)]
    attach: Option<Attach>,
    /// Check the configuration, report all errors and exit; warns of interfaces that do not exist or cannot be ports now
    #[arg(long)]
    check: bool,
    /// Remove the pins of a daemon that no longer runs, so that its ports stop forwarding; lists everything it removes,
    /// and refuses a directory that contains anything weft-switchd does not create
    #[arg(long, conflicts_with = "check")]
    detach: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Attach {
    Tcx,
    Clsact,
}

fn main() -> ExitCode {
    let arguments: Arguments = weft_manual::parse("8");
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // The journal adds its own timestamps.
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match journal {
        true => log.without_time().with_ansi(false).init(),
        false => log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init(),
    }
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("{}", as_line(&refusal));
            ExitCode::from(refusal.exit_code())
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Refusal> {
    let flags =
        Flags { name: arguments.name, mode: arguments.mode, ports: arguments.ports, tier: arguments.tier };
    let places = Places {
        state: arguments.state_dir.unwrap_or_else(|| arguments.run_dir.clone()),
        run: arguments.run_dir,
        pins: arguments.pin_dir,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Refusal::System { what: "starting", error })?;
    if arguments.check {
        let config = Config::load(arguments.config.as_deref(), &flags)?;
        for warning in runtime.block_on(daemon::warnings(&places, &config)) {
            eprintln!("warning: {warning}");
        }
        println!("{}: {}, configuration OK", config.name, plural(config.ports.len() as u64, "port"));
        return Ok(());
    }
    if arguments.detach {
        let name = match (&flags.name, &arguments.config) {
            (Some(name), _) => name.clone(),
            (None, Some(file)) => Config::load(Some(file), &flags)?.name,
            (None, None) => SwitchName::standard(),
        };
        let removed = runtime.block_on(daemon::take_away(&places, &name))?;
        removed.iter().for_each(|line| println!("{line}"));
        println!("{name}: {}", if removed.is_empty() { "nothing to detach" } else { "no longer forwarding" });
        return Ok(());
    }
    let hook = arguments.attach.map(|attach| match attach {
        Attach::Tcx => Hook::Tcx,
        Attach::Clsact => Hook::Clsact,
    });
    runtime.block_on(daemon::run(Start { file: arguments.config, flags, places, hook }))
}
