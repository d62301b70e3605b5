//! Takes texts of the fuzzer's choice as durations, rates and other amounts, and prints figures of its choice. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/units/tests/quantities/agreement.rs"]
mod agreement;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agreement::check(input));
