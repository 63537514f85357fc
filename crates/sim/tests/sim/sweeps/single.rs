//! Runs carried out one at a time, as on other machines, into the directory of their sweep.

use std::fs;

use weft_sim::origin::Origin;
use weft_sim::results::FILES;
use weft_sim::single::run_point;
use weft_sim::sweep_directory::Directory;

use crate::common::directory::Scratch;
use crate::common::parsed;
use crate::sweeps::sweep::{TEXT, are_equal, complete, no_files, results, scenario};

#[test]
fn runs_carried_out_elsewhere_make_the_directory_of_the_sweep() {
    let (whole, pieced, elsewhere) =
        (Scratch::new("whole"), Scratch::new("pieced"), Scratch::new("elsewhere"));
    complete(whole.path(), 2);
    let scenario = scenario();
    let directory = Directory::open(&scenario, pieced.path(), &no_files, Origin::Simulated).unwrap();
    for point in directory.missing(&scenario) {
        let target = elsewhere.join(&point.id);
        let timing = run_point(&scenario, point, &no_files, &target, 1, &mut |_| true).unwrap();
        let temporary = directory.begin(point).unwrap();
        for name in FILES {
            fs::copy(target.join(name), temporary.join(name)).unwrap();
        }
        directory.complete(point, &temporary).unwrap();
        directory.add_timings(&[timing.expect("nobody stopped it").json(point)]).unwrap();
    }
    assert!(directory.missing(&scenario).is_empty());
    are_equal(&results(whole.path()), &results(pieced.path()), "runs one at a time");
}

#[test]
fn a_run_that_its_observer_stops_leaves_no_result() {
    let scratch = Scratch::new("single-stopped");
    let scenario = parsed(&TEXT.replace("60 ms", "60 s"));
    let target = scratch.join("result");
    let outcome = run_point(&scenario, &scenario.points()[0], &no_files, &target, 1, &mut |_| false);
    assert!(outcome.unwrap().is_none());
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}
