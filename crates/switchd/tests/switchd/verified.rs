//! The number of instructions that the verifier processes per program, with all settings that add to it;
//! the kernel's limit is a million.

use std::time::Instant;

use aya::programs::SchedClassifier;
use aya::{Ebpf, EbpfLoader};
use weft_switchd::layout::Settings;
use weft_switchd::{Mode, loading};
use weft_switching::exploration::{Exploration, OnMiss, Scope, WhileBroken};
use weft_switching::tfe::Classifier;
use weft_units::{Bytes, Duration};

#[test]
#[ignore = "needs root and BPF"]
fn signals_while_the_verifier_works_do_not_keep_a_program_from_being_loaded() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler does nothing, and no other code of this test uses the signal.
    unsafe { libc::signal(libc::SIGUSR1, nothing as *const () as libc::sighandler_t) };
    let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcp_path.o"));
    let fresh = || EbpfLoader::new().load(object).expect("a valid object, and root");
    let (mut first, mut second) = (fresh(), fresh());
    fn program(ebpf: &mut Ebpf) -> &mut SchedClassifier {
        let program = ebpf.program_mut(Mode::TcpPath.program()).expect("it exists");
        program.try_into().expect("of this type")
    }
    let began = Instant::now();
    program(&mut first).load().expect("it loads without signals");
    let quarter = began.elapsed() / 4;
    // SAFETY: no arguments.
    let me = unsafe { libc::pthread_self() };
    let signal = std::thread::spawn(move || {
        // Aya itself retries once.
        for _ in 0..4 {
            std::thread::sleep(quarter);
            // SAFETY: the target thread waits for this one.
            assert_eq!(unsafe { libc::pthread_kill(me, libc::SIGUSR1) }, 0);
        }
    });
    loading::load(program(&mut second)).expect("loading is retried");
    signal.join().expect("the signal was sent");
}

/// A fifth of the verifier's limit.
const MOST: u32 = 200_000;

#[test]
#[ignore = "needs root and BPF"]
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
        let mut ebpf = loader.load(object).unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        let program = ebpf.program_mut(mode.program()).expect("it exists");
        let program: &mut SchedClassifier = program.try_into().expect("of this type");
        program.load().unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        let verified = program.info().expect("it is loaded").verified_instruction_count();
        let verified = verified.expect("needs Linux 5.16");
        println!("{}: {verified} instructions verified", mode.name());
        assert!(
            verified <= MOST,
            "{}: the verifier processed {verified} instructions, expected at most {MOST}",
            mode.name()
        );
    }
}
