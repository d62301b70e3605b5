//! Feeds the response parser streams in pieces of the fuzzer's choice and asserts that the pieces
//! make no difference. An ordinary test asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/http/tests/response/invariance.rs"]
mod invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| invariance::check(input));
