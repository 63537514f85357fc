//! Warnings of comparisons between the points of a scenario.

use weft_scenario::Scenario;

const RING: &str = "[fabric]\nkind = \"fat-tree\"\nk = 4\n[traffic]\ncollective = \"ring-all-reduce\"\nbytes = \"1 MB\"\n\
    [scheme]\nname = \"ecmp\"\n";
const PROTOCOLS: &str = "[sweep]\n\"transport.protocol\" = [\"tcp\", \"uec\"]\n";

fn found(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = Scenario::parse_with(text, "text", &sets).unwrap_or_else(|error| panic!("{error}"));
    let all = scenario.check(&|_| Err("no file is expected".to_owned()));
    let all = all.unwrap_or_else(|error| panic!("{error}"));
    assert!(scenario.comparisons().iter().all(|warning| all.contains(warning)), "{all:?}");
    scenario.comparisons().to_vec()
}

#[test]
fn protocols_compared_with_a_connection_for_each_message_are_warned_of() {
    let text = format!("{RING}{PROTOCOLS}");
    let [warning] = &found(&text, &[])[..] else { panic!("one warning is expected") };
    assert!(warning.starts_with("`tcp` and `uec` are compared"), "{warning}");
    assert!(warning.contains("set connections = \"persistent\" in [traffic]"), "{warning}");
    for given in ["persistent", "per-message"] {
        assert_eq!(found(&text, &[&format!("traffic.connections={given}")]), [""; 0], "{given}");
    }
    let variants =
        "[variant.ours]\ntransport.profile = \"dctcp\"\n[variant.theirs]\ntransport.profile = \"linux\"\n";
    let [warning] = &found(&format!("{RING}{variants}"), &[])[..] else { panic!("one warning is expected") };
    assert!(warning.starts_with("`dctcp` and `linux` are compared"), "{warning}");
}

#[test]
fn what_compares_no_connections_is_not_warned_of() {
    // One protocol, two schemes.
    assert_eq!(found(&format!("{RING}[sweep]\n\"scheme.name\" = [\"ecmp\", \"spray\"]\n"), &[]), [""; 0]);
    // Datagrams have no connections.
    let sets = ["sweep.transport.protocol=[\"tcp\", \"udp\"]"];
    assert_eq!(found(&format!("{RING}{PROTOCOLS}"), &sets), [""; 0]);
    let drawn = RING
        .replace("collective = \"ring-all-reduce\"\nbytes = \"1 MB\"", "sizes = \"web-search\"\nload = 0.1");
    assert_eq!(found(&format!("{drawn}{PROTOCOLS}"), &[]), [""; 0]);
}

#[test]
fn single_messages_need_repeats_besides_open_connections() {
    let text = format!("{RING}{PROTOCOLS}").replace("ring-all-reduce", "all-to-all");
    assert!(found(&text, &[])[0].contains("set connections = \"persistent\" and repeats = 10 in [traffic]"));
    assert!(
        found(&text, &["traffic.repeats=5"])[0].contains("set connections = \"persistent\" in [traffic]")
    );
}

#[test]
fn cold_starts_of_some_schemes_are_warned_of() {
    let text = format!("{RING}[sweep]\n\"scheme.name\" = [\"ecmp\", \"tcp_path\"]\n");
    let [warning] = &found(&text, &[])[..] else { panic!("one warning is expected") };
    assert!(warning.starts_with("`tcp_path` resolves an address"), "{warning}");
    assert_eq!(found(&text, &["run.warm=false"]), [""; 0]);
}

#[test]
fn the_content_has_the_changes_and_keeps_the_order_of_the_sweep() {
    let sets = ["traffic.bytes=2 MB".to_owned(), "sweep.scheme.name=[\"ecmp\", \"spray\"]".to_owned()];
    let scenario = Scenario::parse_with(&format!("{RING}{PROTOCOLS}"), "text", &sets);
    let content = scenario.unwrap_or_else(|error| panic!("{error}")).content();
    assert!(content.contains("\"bytes\":\"2 MB\""), "{content}");
    let swept = "\"sweep\":{\"transport.protocol\":[\"tcp\",\"uec\"],\"scheme.name\":[\"ecmp\",\"spray\"]}";
    assert!(content.contains(swept), "{content}");
}
