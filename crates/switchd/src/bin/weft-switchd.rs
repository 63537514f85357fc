//! The daemon of the Linux switch.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, ValueEnum};
use tracing_subscriber::EnvFilter;
use weft_switchd::as_line;
use weft_switchd::config::{Config, Flags};
use weft_switchd::daemon::{self, Places, Refusal, Start};
use weft_switchd::names::SwitchName;
use weft_switchd::pins::Hook;

const EXAMPLES: &str = "\
Examples:
  weft-switchd --config /etc/weft/switch.toml
  weft-switchd --name s1 --mode tcp-path --port eth1 --port eth2 --port eth3
  weft-switchd --config switch.toml --check
  weft-switchd --name s1 --detach      detach what a daemon that is gone left forwarding

It runs in the foreground. SIGTERM ends it, and the ports go on forwarding; the next start takes
them over. `weftctl down` ends forwarding too. RUST_LOG=debug logs more. Keys of the configuration,
files and metrics: docs/switchd.md.";

/// Makes the interfaces of this machine the ports of a multipath switch.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
struct Arguments {
    /// The configuration; flags go before what it says
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Name of the switch on this machine
    #[arg(long)]
    name: Option<SwitchName>,
    /// How it forwards
    #[arg(long)]
    mode: Option<String>,
    /// An interface; may be given many times, the order is the port's number
    #[arg(long = "port", value_name = "IFACE")]
    ports: Vec<String>,
    /// Tier of the switch, 1 where hosts are attached
    #[arg(long)]
    tier: Option<u8>,
    /// Where socket and lock are
    #[arg(long, value_name = "DIR", default_value = "/run/weft")]
    run_dir: PathBuf,
    /// Where maps and attachments are pinned
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf/weft")]
    pin_dir: PathBuf,
    /// Where the numbers of Hellos are kept over restarts of the machine [default: the run directory]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// How the program is attached [default: tcx where the kernel has it]
    #[arg(long, value_enum)]
    attach: Option<Attach>,
    /// Read the configuration, say what is wrong with it, and end
    #[arg(long)]
    check: bool,
    /// Remove the pins of a daemon that no longer runs, so that its ports stop forwarding; prints each thing removed,
    /// and refuses a directory with anything in it that weft-switchd does not make
    #[arg(long, conflicts_with = "check")]
    detach: bool,
    /// Print the manual page, and end
    #[arg(long, hide = true)]
    man: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Attach {
    Tcx,
    Clsact,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.man {
        let page = clap_mangen::Man::new(Arguments::command()).section("8");
        return match page.render(&mut std::io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // The journal has times of its own.
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
            ExitCode::FAILURE
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
    if arguments.check {
        let config = Config::load(arguments.config.as_deref(), &flags)?;
        println!("{}: {} ports, nothing is wrong", config.name, config.ports.len());
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Refusal::System { what: "starting", error })?;
    if arguments.detach {
        let name = match (&flags.name, &arguments.config) {
            (Some(name), _) => name.clone(),
            (None, Some(file)) => Config::load(Some(file), &flags)?.name,
            (None, None) => SwitchName::standard(),
        };
        let removed = runtime.block_on(daemon::take_away(&places, &name))?;
        removed.iter().for_each(|line| println!("{line}"));
        println!(
            "{name}: {}",
            if removed.is_empty() { "nothing to detach" } else { "does not forward any more" }
        );
        return Ok(());
    }
    let hook = arguments.attach.map(|attach| match attach {
        Attach::Tcx => Hook::Tcx,
        Attach::Clsact => Hook::Clsact,
    });
    runtime.block_on(daemon::run(Start { file: arguments.config, flags, places, hook }))
}
