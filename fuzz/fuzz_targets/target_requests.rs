//! Feeds the request parser of the built-in target streams in pieces of the fuzzer's choice. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/target/tests/requests/invariance.rs"]
mod invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| invariance::check(input));
