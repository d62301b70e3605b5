//! Whatever a run file holds, it is refused, or what is said of it is true and made of numbers.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "any_run/analysis.rs"]
mod analysis;
#[path = "any_run/base.rs"]
mod base;
#[path = "any_run/report.rs"]
mod report;
#[path = "any_run/run_file.rs"]
mod run_file;

use plimsoll_testkit::{Mutations, seeds};

const OF_FILES: Mutations<'_> = Mutations { max_places: 1, special_bytes: b"\x07", repeated_bytes: 4 };
const OF_EDITS: Mutations<'_> = Mutations { max_places: 2, special_bytes: b"\x05", repeated_bytes: 4 };

#[test]
fn changed_run_files_are_refused_or_the_change_is_named() {
    let seeds = seeds("run_file");
    assert!(seeds.len() >= 8, "the corpus was found");
    for seed in &seeds {
        run_file::check(seed);
        OF_FILES.each(seed, run_file::check);
    }
}

#[test]
fn edited_runs_are_refused_or_reported_in_numbers() {
    let seeds = seeds("analysis");
    assert!(seeds.len() >= 10, "the corpus was found");
    for seed in &seeds {
        analysis::check(seed);
        OF_EDITS.each(seed, analysis::check);
    }
}
