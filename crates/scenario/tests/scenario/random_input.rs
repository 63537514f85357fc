//! Any input is either rejected with a message or planned; nothing panics.

use proptest::prelude::*;
use weft_scenario::Scenario;

/// Lines of good scenarios, each of which may be missing, repeated or corrupted.
const LINES: &[&str] = &[
    "[fabric]",
    "kind = \"fat-tree\"",
    "kind = \"ring\"",
    "k = 4",
    "switches = 3",
    "hosts_per_switch = 2",
    "rate = \"1 Gbps\"",
    "queue = \"100 packets\"",
    "queues = { scheduler = \"drr\", weights = [1, 2] }",
    "failed = [\"e0-a0\"]",
    "[[fabric.link]]",
    "between = \"e0-a1\"",
    "rate_back = \"2 Gbps\"",
    "[traffic]",
    "[[traffic]]",
    "class = \"x\"",
    "sizes = \"web-search\"",
    "sizes = { uniform = [\"1 kB\", \"2 kB\"] }",
    "sizes = { cdf = \"f\" }",
    "truncate = \"1 MB\"",
    "scale_to_mean = \"9 kB\"",
    "load = 0.4",
    "flows = 9",
    "arrivals = \"at-once\"",
    "pairs = \"permutation\"",
    "pairs = { incast = { fan_in = 2, receiver = \"h0\" } }",
    "pairs = { rack-local = { share = 0.5 } }",
    "flow_list = [{ src = \"h0\", dst = \"h1\", bytes = \"1 kB\", sport = 1, dport = 2 }]",
    "trace = \"f.csv\"",
    "trace = \"f.cm\"",
    "trace = \"f.goal\"",
    "collective = \"tree-all-reduce\"",
    "training = { model = \"mixtral-8x7b\", tensor = 4, expert = 2 }",
    "training = { layers = 2, hidden = 64, heads = 2, ffn = 64, pipeline = 2, micro_batches = 3, steps = 2 }",
    "training.flops = 1e12",
    "inference = { model = \"llama-7b\", requests_per_second = 9, tensor = 4, prefill = 2, decode = 2 }",
    "inference.lengths = \"exponential\"",
    "connections = \"persistent\"",
    "bytes = \"9 kB\"",
    "ranks = 5",
    "ranks = [\"h0\", \"h1\"]",
    "placement = \"striped\"",
    "repeats = 2",
    "chunks = 3",
    "[scheme]",
    "name = \"ecmp\"",
    "[transport]",
    "profile = \"dctcp\"",
    "mss = 500",
    "[run]",
    "duration = \"1 ms\"",
    "seeds = [1, 2]",
    "[measure]",
    "window = [\"0 s\", \"1 ms\"]",
    "[[event]]",
    "at = \"1 us\"",
    "fail = \"e0-a1\"",
    "heal = { share = 0.5 }",
    "change = [\"e0-a1\", \"e1-a1\"]",
    "rate = 0.2",
    "loss = 0.01",
    "blackhole = 1",
    "flap = \"e0-a1\"",
    "down = \"1 ms\"",
    "up = \"1 us\"",
    "times = 3",
    "reaction = \"1 ms\"",
    "[sweep]",
    "\"traffic.load\" = [0.1, 0.2]",
    "scheme.name = [\"ecmp\", \"spray\"]",
];

fn files(_: &str) -> Result<Vec<u8>, String> {
    Ok(b"src,dst,bytes,start\nh0,h1,5,0 s\n".to_vec())
}

fn try_all(text: &str, sets: &[String]) -> Result<(), TestCaseError> {
    match Scenario::parse_with(text, "random.toml", sets) {
        Ok(scenario) => {
            prop_assert!(!scenario.points().is_empty());
            if let Err(error) = scenario.check(&files) {
                prop_assert!(!error.errors.is_empty());
            }
        }
        Err(error) => {
            prop_assert!(!error.errors.is_empty());
            prop_assert!(error.to_string().starts_with("error: "));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_panic(text in "[\\PC\n]{0,200}") {
        try_all(&text, &[])?;
    }

    #[test]
    fn no_mixture_of_good_lines_makes_it_panic(
        picks in proptest::collection::vec((0..LINES.len(), 0..12_usize), 0..30),
        value in "(-?[0-9]{1,20}|\"[0-9]{0,3} ?[a-zA-Z]{0,4}\"|\\[\\]|\\{\\}|true|nan|1e400|-inf)",
    ) {
        let text: String = picks
            .iter()
            .map(|&(line, spoil)| match LINES[line].split_once(" = ") {
                Some((key, _)) if spoil == 0 => format!("{key} = {value}\n"),
                _ => format!("{}\n", LINES[line]),
            })
            .collect();
        try_all(&text, &[])?;
    }

    #[test]
    fn no_change_of_a_good_scenario_makes_it_panic(
        key in "(fabric|traffic|scheme|transport|run|measure|sweep)\\.(k|rate|delay|queue|sizes|load|flows|pairs|start|jitter|clamp|truncate|name|mss|duration|limit|seeds|window|interval|traffic\\.load)",
        value in "(-?[0-9]{1,20}(\\.[0-9]{1,5})?|[0-9]{1,12} ?(ps|us|s|h|B|GB|Gbps|packets)?|\\[.{0,9}\\]|\\{.{0,9}\\}|.{0,12})",
    ) {
        let good = "[fabric]\nkind = \"fat-tree\"\nk = 2\n[traffic]\nsizes = \"facebook-hadoop\"\nload = 0.1\n\
                    [scheme]\nname = \"ecmp\"\n[run]\nduration = \"1 ms\"\n";
        try_all(good, &[format!("{key}={value}")])?;
    }
}
