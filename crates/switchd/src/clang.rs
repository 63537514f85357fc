//! [`clang`]: runs the compiler of the programs, for tests.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Compiles C source from standard input for the BPF target.
pub fn clang(arguments: &[&str], source: &str) -> Output {
    let mut clang = Command::new(std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned()))
        .args(["-target", "bpf", "-x", "c", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("clang, which builds the programs");
    clang.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("a pipe");
    clang.wait_with_output().expect("clang")
}
