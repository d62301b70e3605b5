//! Sends a TLS client bytes of the fuzzer's choice, and a server's flights that it changes on their way. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/tls/tests/any_records/invariance.rs"]
mod invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| invariance::check(input));
