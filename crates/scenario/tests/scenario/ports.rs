//! Warnings of keys of ports that have no effect.

use crate::expansion::{no_files, scenario};

#[test]
fn keys_of_ports_that_others_leave_without_effect_are_warned_of() {
    let of = |more: &str, sets: &[&str]| {
        let own = ["fabric.rate=400 Gbps", "traffic.load=0.1"];
        scenario(more, &[&own[..], sets].concat()).check(&no_files).unwrap_or_else(|error| panic!("{error}"))
    };
    let (endless, two) = ("fabric.queue=unlimited", "fabric.queues={ weights = [1, 1] }");
    let (mark, uec) = ("fabric.ecn_threshold=10 kB", "transport.protocol=uec");
    let slow = "transport.rto=1 s";
    let ecn = "transport.ecn=classic";
    // Settings, the warning, and settings with which there is none, or a sweep over the other key.
    type Case<'a> = (&'a [&'a str], &'a str, &'a [&'a [&'a str]], &'a str);
    let cases: [Case<'_>; 15] = [
        (
            &[endless, "fabric.pfc={}"],
            "PFC never pauses link h0->e0 (and 79 more like it): its `queue` is unlimited",
            &[
                &[endless, "fabric.pfc={ xoff = \"100 kB\" }"],
                &[endless, "fabric.pfc={}", "fabric.buffer=9 MB"],
                &["fabric.queue=1 MB", "fabric.pfc={}"],
            ],
            "",
        ),
        (
            &[endless, two, mark, uec, slow, "fabric.trim=true"],
            "`trim` has no effect while `queue` is unlimited",
            &[
                &[two, mark, uec, slow, "fabric.trim=true", "fabric.queue=200 kB"],
                &[endless, two, mark, uec, slow, "fabric.trim=true", "fabric.buffer=9 MB"],
            ],
            "fabric.queue = [\"unlimited\", \"200 kB\"]",
        ),
        (
            &["fabric.queue=1 MB", two, mark, uec, slow, "fabric.trim=true", "fabric.pfc={}"],
            "`pfc` makes all queues lossless: set pfc.queues",
            &[&[
                "fabric.queue=1 MB",
                two,
                mark,
                uec,
                slow,
                "fabric.trim=true",
                "fabric.pfc={ queues = [0] }",
            ]],
            "",
        ),
        (
            &[mark],
            "`ecn_threshold` has no effect while transport.ecn is \"off\", so no packet is ECN-capable: \
             set transport.ecn = \"classic\", or transport.profile = \"dctcp\"",
            &[&[mark, ecn], &[mark, "transport.profile=dctcp"]],
            "transport.ecn = [\"off\", \"classic\"]",
        ),
        (
            &[mark, "transport.protocol=udp"],
            "while transport.protocol is \"udp\", so no packet is ECN-capable: set transport.protocol",
            &[&[mark, uec, slow]],
            "transport.protocol = [\"udp\", \"tcp\"]",
        ),
        (
            &[mark, "transport.protocol=roce", "transport.congestion_control=off"],
            "while transport.congestion_control is \"off\", so no packet is ECN-capable: set transport.congestion_control = \"dcqcn\"",
            &[&[mark, "transport.protocol=roce"], &[mark, "scheme.name=hermes"]],
            "",
        ),
        (
            &["fabric.red={ kmin = \"10 kB\", kmax = \"20 kB\" }"],
            "`red` has no effect while transport.ecn is \"off\"",
            &[&["fabric.red={ kmin = \"10 kB\", kmax = \"20 kB\" }", ecn]],
            "",
        ),
        (
            &["fabric.queue=10 kB", mark, ecn],
            "never marks a packet: its queue holds 10 kB, and ecn_threshold is 10 kB",
            &[&["fabric.queue=10001 B", mark, ecn], &["fabric.queue=1 packet", mark, ecn]],
            "",
        ),
        (
            &["fabric.queue=20 packets", "fabric.red={ kmin = \"20 packets\", kmax = \"30 packets\" }", ecn],
            "its queue holds 20 packets, and red.kmin is 20 packets",
            &[&[
                "fabric.queue=20 packets",
                "fabric.red={ kmin = \"18 packets\", kmax = \"30 packets\" }",
                ecn,
            ]],
            "",
        ),
        // A packet finds 19 packets at most; RED marks above kmin.
        (
            &["fabric.queue=20 packets", "fabric.red={ kmin = \"19 packets\", kmax = \"30 packets\" }", ecn],
            "its queue holds 20 packets, and red.kmin is 19 packets",
            &[
                &[
                    "fabric.queue=20 packets",
                    "fabric.red={ kmin = \"18 packets\", kmax = \"30 packets\" }",
                    ecn,
                ],
                &[
                    "fabric.queue=20 packets",
                    "fabric.red={ kmin = \"19 packets\", kmax = \"30 packets\", at = \"dequeue\" }",
                    ecn,
                ],
            ],
            "",
        ),
        (
            &[
                "fabric.queue=20 packets",
                "fabric.red={ kmin = \"20 packets\", kmax = \"30 packets\", at = \"dequeue\" }",
                ecn,
            ],
            "its queue holds 20 packets, and red.kmin is 20 packets",
            &[],
            "",
        ),
        // The most urgent queue has twice the limit with `trim`, or `trim_queue`.
        (
            &["fabric.queue=10 kB", two, "fabric.ecn_threshold=20 kB", uec, slow, "fabric.trim=true"],
            "its queue holds 20 kB, and ecn_threshold is 20 kB",
            &[
                &["fabric.queue=10 kB", two, mark, uec, slow, "fabric.trim=true"],
                &[
                    "fabric.queue=10 kB",
                    two,
                    "fabric.ecn_threshold=20 kB",
                    uec,
                    slow,
                    "fabric.trim=true",
                    "fabric.trim_queue=30 kB",
                ],
            ],
            "",
        ),
        (
            &["fabric.queue=10 kB", two, mark, uec, slow, "fabric.trim=true", "fabric.trim_queue=5 kB"],
            "its queue holds 10 kB, and ecn_threshold is 10 kB",
            &[],
            "",
        ),
        (
            &["fabric.queues={ weights = [4, 1] }"],
            "set it to \"drr\", or set weights = [1, 1]",
            &[&[two], &["fabric.queues={ scheduler = \"drr\", weights = [4, 1] }"]],
            "",
        ),
        (
            &[two, "fabric.trim_queue=200 kB"],
            "`trim_queue` has no effect without `trim`",
            &[&[two]],
            "fabric.trim = [true, false]",
        ),
    ];
    for (sets, warning, others, sweep) in cases {
        let warnings = of("", sets);
        assert!(warnings.iter().any(|given| given.contains(warning)), "{sets:?}: {warnings:?}");
        // A key that is set is not swept.
        let (key, _) = sweep.split_once(" = ").unwrap_or_default();
        let unset = sets.iter().copied().filter(|set| !set.starts_with(&format!("{key}=")));
        let unset: Vec<&str> = unset.collect();
        let swept = (!sweep.is_empty()).then(|| of(&format!("[sweep]\n{sweep}\n"), &unset));
        let without = others.iter().map(|sets| of("", sets)).chain(swept);
        for warnings in without {
            assert!(!warnings.iter().any(|given| given.contains(warning)), "{sets:?}: {warnings:?}");
        }
    }
}

#[test]
fn a_swept_sub_key_counts_as_its_key() {
    let trims = ["fabric.queues={ weights = [1, 1] }", "transport.protocol=uec", "fabric.trim=true"];
    let pfc = "[fabric.pfc]\nqueues = [0, 1]\n";
    let weights = "[fabric.queues]\nweights = [4, 1]\n";
    let cases: [(&[&str], &str, &str, &str); 2] = [
        (&trims, pfc, "pfc.queues = [[0], [0, 1]]", "set pfc.queues"),
        (&[], weights, "queues.scheduler = [\"strict-priority\", \"drr\"]", "set it to \"drr\""),
    ];
    for (sets, given, sweep, warning) in cases {
        let has = |more: &str| {
            let own = ["fabric.rate=400 Gbps", "traffic.load=0.1", "fabric.queue=1 MB"];
            let checked = scenario(more, &[&own[..], sets].concat()).check(&no_files);
            checked.unwrap_or_else(|error| panic!("{error}")).iter().any(|given| given.contains(warning))
        };
        assert!(has(given), "{warning}");
        // Without `--set fabric.queues` or `--set fabric.pfc`, which would end the sweep.
        assert!(!has(&format!("{given}[sweep]\nfabric.{sweep}\n")), "{sweep}");
    }
}
