//! Edits a run as the fuzzer chooses, analyses it and prints every report. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/report/tests/any_run/analysis.rs"]
mod analysis;
#[path = "../../crates/report/tests/any_run/base.rs"]
mod base;
#[path = "../../crates/report/tests/any_run/report.rs"]
mod report;

libfuzzer_sys::fuzz_target!(|input: &[u8]| analysis::check(input));
