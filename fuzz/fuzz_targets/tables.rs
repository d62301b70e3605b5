//! Takes texts of the fuzzer's choice as tables that another tool measured, and explains those that are read. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/experiment/tests/any_table/agreement.rs"]
mod agreement;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agreement::check(input));
