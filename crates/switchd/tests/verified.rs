//! What the verifier goes through for each program, which has a limit of a million instructions and takes
//! its time: with every setting that adds to it, as it runs.

use aya::EbpfLoader;
use aya::programs::SchedClassifier;
use weft_switchd::Mode;
use weft_switchd::layout::Settings;
use weft_switching::exploration::{Exploration, OnMiss, Scope, WhileBroken};
use weft_switching::tfe::Classifier;
use weft_units::{Bytes, Duration};

/// A fifth of what the verifier allows.
const MOST: u32 = 200_000;

#[test]
fn programs_are_far_from_the_verifiers_limit() {
    let config = Exploration {
        scope: Scope::ValleyFree,
        on_miss: OnMiss::Recover,
        while_broken: WhileBroken::Detour,
        refresh_after: Duration::from_secs(1),
        ..Exploration::default()
    };
    let settings = Settings::new(&config).classifying(&Classifier::Auto(Bytes(1_000_000)));
    for mode in Mode::ALL {
        let object = match mode {
            Mode::ArpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/arp_path.o")),
            Mode::TcpPath => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcp_path.o")),
            Mode::Tfe => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tfe.o")),
            Mode::Ecmp => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/ecmp.o")),
            Mode::Spray => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/spray.o")),
            Mode::TagForward => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tag_forward.o")),
            Mode::FlowTable => aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/flow_table.o")),
        };
        let mut loader = EbpfLoader::new();
        loader.override_global("settings", &settings, true);
        let mut ebpf = match loader.load(object) {
            Ok(ebpf) => ebpf,
            Err(error) => return println!("skipped: programs cannot be loaded here (root may): {error}"),
        };
        let program = ebpf.program_mut(mode.program()).expect("it has one");
        let program: &mut SchedClassifier = program.try_into().expect("of this type");
        program.load().unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        let verified = program.info().expect("it is loaded").verified_instruction_count();
        let verified = verified.expect("the kernel tells since 5.16");
        println!("{}: {verified} instructions verified", mode.name());
        assert!(verified <= MOST, "{}: {verified} instructions are verified", mode.name());
    }
}
