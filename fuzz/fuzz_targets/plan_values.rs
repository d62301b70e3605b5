//! Takes texts of the fuzzer's choice as rates over time, probes, addresses and URLs. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/plan/tests/any_text/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|input: &[u8]| values::check(input));
