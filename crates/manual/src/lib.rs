//! The parts that all programs share: options `--completion SHELL` and `--man DIRECTORY`, and exit codes.
//!
//! `weft`, in Python, has the same (`python/weft/cli/manual.py`, `python/weft/cli/shell.py`).

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::exit;

use clap::{Args, Command, FromArgMatches, Parser, ValueEnum};
use clap_mangen::Man;

/// Exit code: the work began and failed.
pub const FAILED: u8 = 1;
/// Exit code: refused before anything was done, for wrong usage, bad input, or something missing on this machine.
pub const REFUSED: u8 = 2;
/// Exit code: stopped by Ctrl-C or SIGTERM before the work was complete.
pub const INTERRUPTED: u8 = 130;

#[derive(Args)]
struct Pages {
    /// Print the completion script of a shell and exit
    #[arg(long, value_name = "SHELL", exclusive = true)]
    completion: Option<Shell>,
    /// Write manual pages of all commands into a directory and exit
    #[arg(long, value_name = "DIR", exclusive = true)]
    man: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The arguments of a program, as [`Parser::parse`]; answers `--completion` and `--man` and exits.
///
/// `section` is the section of its manual pages: 1 for commands of users, 8 for those of administrators.
pub fn parse<A: Parser>(section: &str) -> A {
    let command = Pages::augment_args(A::command());
    let asked = std::env::args_os().nth(1);
    let starts = |option: &str| asked.as_deref().is_some_and(|word| is_option(word, option));
    if starts("--completion") || starts("--man") {
        // Without the program's own required arguments and subcommands.
        let alone = Pages::augment_args(Command::new(command.get_name().to_owned()));
        let pages = Pages::from_arg_matches(&alone.get_matches()).unwrap_or_else(|error| error.exit());
        if let Err(error) = answer(command, section, &pages) {
            eprintln!("error: {error}");
            exit(REFUSED.into());
        }
        exit(0);
    }
    A::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
}

/// Whether a word is `--option` or `--option=...`.
fn is_option(word: &OsStr, option: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix(option));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn answer(mut command: Command, section: &str, pages: &Pages) -> Result<(), String> {
    if let Some(shell) = pages.completion {
        let shell = match shell {
            Shell::Bash => clap_complete::Shell::Bash,
            Shell::Zsh => clap_complete::Shell::Zsh,
            Shell::Fish => clap_complete::Shell::Fish,
        };
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, name, &mut script);
        // A reader that closes the pipe has seen enough.
        let _ = io::stdout().write_all(&script);
    }
    if let Some(directory) = &pages.man {
        std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        command = command.disable_help_subcommand(true);
        command.build();
        write_pages(&command, section, directory)?;
    }
    Ok(())
}

/// Writes the page of a command, such as `weftctl.8`, and those of its subcommands, such as `weftctl-trace.8`.
fn write_pages(command: &Command, section: &str, directory: &Path) -> Result<(), String> {
    let man = Man::new(command.clone()).section(section);
    let path = directory.join(man.get_filename());
    man.generate_to(directory).map_err(|error| format!("{}: {error}", path.display()))?;
    // A reader that closes the pipe has seen enough.
    let _ = writeln!(io::stdout(), "{}", path.display());
    command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .try_for_each(|sub| write_pages(sub, section, directory))
}
