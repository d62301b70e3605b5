//! Takes texts of the fuzzer's choice as files of requests, CSV files and checks, and asserts what holds
//! for every one of them. An ordinary test asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/scenario/tests/scenario/requests_invariance.rs"]
mod requests_invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| requests_invariance::check(input));
