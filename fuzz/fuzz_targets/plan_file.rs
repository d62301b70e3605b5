//! Takes texts of the fuzzer's choice as plan files and freezes the plans of those that are read. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/plan/tests/any_text/plan_file.rs"]
mod plan_file;

libfuzzer_sys::fuzz_target!(|input: &[u8]| plan_file::check(input));
