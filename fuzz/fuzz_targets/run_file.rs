//! Changes bytes of a run file as the fuzzer chooses and reads, analyses and reports what is accepted. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/report/tests/any_run/base.rs"]
mod base;
#[path = "../../crates/report/tests/any_run/report.rs"]
mod report;
#[path = "../../crates/report/tests/any_run/run_file.rs"]
mod run_file;

libfuzzer_sys::fuzz_target!(|input: &[u8]| run_file::check(input));
