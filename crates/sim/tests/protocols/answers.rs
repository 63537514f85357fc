//! Answers of Ultra Ethernet's receivers.

use super::{planned, run};

#[test]
fn no_packet_of_an_all_to_all_waits_for_a_timeout_if_none_is_lost() {
    // Two rounds among 16 hosts whose leaves have half of their capacity as uplinks.
    let timeouts = |transport: &str| {
        let text = format!(
            "[fabric]\nkind = \"spine-leaf\"\nspines = 4\nleaves = 2\nhosts_per_leaf = 8\nrate = \"100 Gbps\"\ndelay = \"1 us\"\nqueue = \"170 kB\"\ntrim = true\nred = {{ kmin = \"34 kB\", kmax = \"136 kB\" }}\n\
             queues = {{ scheduler = \"strict-priority\", weights = [1, 1] }}\n\
             [traffic]\ncollective = \"all-to-all\"\nbytes = \"4 MB\"\nconnections = \"persistent\"\nrepeats = 2\n\
             [scheme]\nname = \"ecmp\"\n[transport]\nprotocol = \"uec\"\n{transport}\n[run]\nduration = \"10 ms\"\nlimit = \"100 ms\"\n"
        );
        let (report, kept) = run(&planned(&text, ""), 1);
        let lost: u64 = report.counters.packets_dropped.iter().sum();
        assert_eq!((report.flows_finished, lost), (2 * 16 * 15, 0));
        kept.flows.iter().map(|record| record.timeouts).sum::<u64>()
    };
    assert_eq!(timeouts(""), 0);
    let silent = timeouts("answer_requests = false");
    assert!(silent >= 5, "{silent} timeouts without requests");
}
