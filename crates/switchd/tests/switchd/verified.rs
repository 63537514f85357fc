//! The number of instructions that the verifier processes per program, with all settings that add to it;
//! the kernel's limit is a million.

use std::time::Duration;

use aya::programs::SchedClassifier;
use aya::{Ebpf, EbpfLoader};
use weft_switchd::layout::Settings;
use weft_switchd::pins::Pins;
use weft_switchd::{Mode, Plane, loading};
use weft_switching::exploration::{Exploration, OnMiss, Scope, WhileBroken};
use weft_switching::tfe::Classifier;
use weft_units::Bytes;

use crate::bpffs::BpfFs;
use crate::wait::comes;

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
    // SAFETY: no arguments.
    let me = unsafe { libc::pthread_self() };
    let used = move || cpu_time(me);
    let before = used();
    program(&mut first).load().expect("it loads without signals");
    let quarter = (used() - before) / 4;
    let signal = std::thread::spawn(move || {
        // Aya itself retries once.
        for _ in 0..4 {
            // It may be done already.
            let before = used();
            comes(Duration::from_secs(1), || used() >= before + quarter);
            // SAFETY: the target thread waits for this one.
            assert_eq!(unsafe { libc::pthread_kill(me, libc::SIGUSR1) }, 0);
        }
    });
    loading::load(program(&mut second)).expect("loading is retried");
    signal.join().expect("the signal was sent");
}

/// The CPU time of a thread that lives, in ns.
fn cpu_time(thread: libc::pthread_t) -> i64 {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the thread lives, and both pointers are to values that live until the calls return.
    let done = unsafe {
        libc::pthread_getcpuclockid(thread, &raw mut clock) + libc::clock_gettime(clock, &raw mut time)
    };
    assert_eq!(done, 0);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
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
        refresh_after: weft_units::Duration::from_secs(1),
        ..Exploration::default()
    };
    let settings = Settings { has_router: 1, ..Settings::new(&config) };
    let settings = settings.classifying(&Classifier::Auto(Bytes(1_000_000)));
    for mode in Mode::all() {
        let pinned = BpfFs::new().expect("needs root");
        let pins = Pins::open(&pinned.root(), &"s".parse().expect("a name")).expect("needs root");
        let plane = Plane::load(mode, &config, settings, &pins);
        let plane = plane.unwrap_or_else(|error| panic!("{}: {error}", mode.word()));
        let verified = plane.program().and_then(|program| Ok(program.info()?.verified_instruction_count()));
        let verified = verified.expect("it is loaded");
        let verified = verified.expect("needs Linux 5.16");
        println!("{}: {verified} instructions verified", mode.word());
        assert!(
            verified <= MOST,
            "{}: the verifier processed {verified} instructions, expected at most {MOST}",
            mode.word()
        );
    }
}
