//! Inspects and controls a running `weft-switchd`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use hyper::Method;
use serde_json::Value;
use weft_switchd::as_line;
use weft_switchd::ctl::{self, CaptureArgs, Client, ClientError, Output, TagCommand, event, table};
use weft_switchd::daemon::Places;
use weft_switchd::names::SwitchName;

const EXAMPLES: &str = "\
Examples:
  weftctl show ports                   ports of the switch `weft`
  weftctl --name s1 show paths --limit 100
  weftctl --json show counters | jq .dropped
  weftctl trace                        explorations as they happen, until Ctrl-C
  weftctl capture eth1 -o eth1.pcapng  frames at a port, for Wireshark; ends after 60 s
  weftctl drain eth2                   before maintenance; afterwards `weftctl drain eth2 --undo`
  weftctl down                         stop forwarding and the daemon

Examples of the modes tag-forward and flow-table (`weftctl help add-flow`):
  weftctl set-gate eth1 2 --flag srv && weftctl set-divisors --down 2 --up 8
  weftctl add-flow 'priority=1000,ip_src=10.0.0.0/24,ip_dst=10.2.0.3 actions=queue:1,down:30,gate:48,up:48'
  weftctl add-flows es1.flows          adds all lines or none
  weftctl dump-flows 'ip_dst=10.2.0.0/16'
  weftctl del-flow 'priority=1000,ip_src=10.0.0.0/24,ip_dst=10.2.0.3'";

/// Inspects and controls a running weft-switchd.
#[derive(Parser)]
#[command(name = "weftctl", version, after_help = EXAMPLES)]
#[command(after_long_help = format!("{EXAMPLES}\n\n{}\n\n{}", ctl::FLOW_HELP, ctl::GROUP_HELP))]
struct Arguments {
    /// Name of the switch on this machine
    #[arg(long, default_value = "weft", global = true)]
    name: SwitchName,
    /// Control socket, instead of the one derived from the name
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    /// Directory of control sockets
    #[arg(long, value_name = "DIR", default_value = Places::RUN, global = true)]
    run_dir: PathBuf,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print a table
    Show {
        #[arg(value_enum)]
        what: Table,
        /// Maximum number of rows, for hosts, paths, routes and flows
        #[arg(long, default_value_t = 1000)]
        limit: usize,
    },
    /// Print path explorations and learnt stations as they happen
    Trace,
    /// Write the frames at the ports to a pcapng file, for Wireshark; needs CAP_NET_RAW
    Capture(CaptureArgs),
    /// Drain a port: no new path uses it and its flows move away; it still forwards
    Drain {
        /// The port, by interface or number
        port: String,
        /// Put it back into use
        #[arg(long)]
        undo: bool,
    },
    /// Remove learnt entries; they are relearnt on demand
    Flush {
        /// The learnt state to remove [default: both]
        #[arg(value_enum)]
        what: Option<Forgotten>,
    },
    /// Reload the configuration: keys, Hello, tier, fabric ports, routes, leaves
    Reload,
    /// Stop forwarding, remove everything from the kernel and stop the daemon
    Down,
    #[command(flatten)]
    Tags(TagCommand),
}

#[derive(Clone, Copy, ValueEnum)]
enum Table {
    Status,
    Ports,
    Neighbours,
    Hosts,
    Paths,
    Counters,
    /// Next hops of stations, modes ecmp and spray
    Routes,
    /// Kernel routes to leaves, with routes = "kernel"
    Leaves,
    Gates,
    Flows,
}

#[derive(Clone, Copy, ValueEnum)]
enum Forgotten {
    Hosts,
    Paths,
}

fn main() -> ExitCode {
    let arguments: Arguments = weft_manual::parse("8");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(error) => Err(ClientError::Answer(error.to_string())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", as_line(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints a line; exits if the reader has closed the pipe.
fn print(line: &str) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}

async fn run(arguments: Arguments) -> Result<(), ClientError> {
    let path = arguments.socket.unwrap_or_else(|| arguments.run_dir.join(format!("{}.sock", arguments.name)));
    let client = Client::new(&path);
    let json = arguments.json;
    let say = |answer: &Value, text: &dyn Fn(&Value) -> String| {
        print(&if json { answer.to_string() } else { text(answer) });
    };
    match arguments.command {
        Command::Show { what, limit } => {
            let what = what.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            let answer = client.ask(Method::GET, &format!("/v1/{what}?limit={limit}")).await?;
            say(&answer, &|answer| table(&what, answer));
        }
        Command::Trace => client.follow("/v1/trace", |line| say(&line, &event)).await?,
        Command::Capture(arguments) => ctl::capture(&client, &arguments).await?,
        Command::Drain { port, undo } => {
            let (method, what) =
                if undo { (Method::DELETE, "is back in use") } else { (Method::POST, "is draining") };
            let answer = client.ask(method, &format!("/v1/ports/{port}/drain")).await?;
            say(&answer, &|_| format!("{port} {what}"));
        }
        Command::Flush { what } => {
            let query = match what {
                None => "",
                Some(Forgotten::Hosts) => "?what=hosts",
                Some(Forgotten::Paths) => "?what=paths",
            };
            let answer = client.ask(Method::POST, &format!("/v1/flush{query}")).await?;
            say(&answer, &|answer| {
                format!("removed {} hosts and {} path entries", answer["hosts"], answer["paths"])
            });
        }
        Command::Reload => {
            let answer = client.ask(Method::POST, "/v1/reload").await?;
            let keys = |answer: &Value| {
                let keys = answer["changed"].as_array().into_iter().flatten().filter_map(Value::as_str);
                keys.collect::<Vec<_>>().join(", ")
            };
            say(&answer, &|answer| match keys(answer) {
                keys if keys.is_empty() => "no changes".to_owned(),
                keys => format!("changed: {keys}"),
            });
        }
        Command::Tags(command) => {
            ctl::run(&client, command, &Output { is_json: json, print: &print }).await?;
        }
        Command::Down => {
            let answer = client.ask(Method::POST, "/v1/down").await?;
            say(&answer, &|answer| {
                let removed = answer["removed"].as_array().into_iter().flatten().filter_map(Value::as_str);
                removed.chain(["the switch is down"]).collect::<Vec<_>>().join("\n")
            });
        }
    }
    Ok(())
}
