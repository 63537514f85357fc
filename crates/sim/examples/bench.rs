//! Runs the benchmark cases named on the command line (default: all), about two seconds each; a number sets the threads.

fn main() {
    let (mut named, mut threads) = (Vec::new(), 1);
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(number) => threads = number,
            Err(_) => named.push(argument),
        }
    }
    for case in weft_sim::bench::cases() {
        if named.is_empty() || named.iter().any(|name| name == case) {
            let measured = weft_sim::bench::bench(case, 2.0, threads).expect("the case is in the list");
            let ratio = match (measured.ratio_to_ecmp, measured.ratio_to_one_thread) {
                (Some(ratio), _) => format!(" {ratio:.2} x ECMP"),
                (_, Some(ratio)) => format!(" {ratio:.2} x one thread"),
                _ => String::new(),
            };
            println!(
                "{case:27} {:6.1} M packet-hops/s {:5.2} s cpu {:7.1} MB peak {:6.1} MB state {} live{ratio}",
                measured.packet_hops_per_second * 1e-6,
                measured.cpu_seconds,
                measured.peak_memory_bytes as f64 * 1e-6,
                measured.state_bytes as f64 * 1e-6,
                measured.live_flows,
            );
        }
    }
}
