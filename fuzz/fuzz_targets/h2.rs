//! Feeds an HTTP/2 connection a server's bytes in pieces of the fuzzer's choice and asserts that the
//! pieces make no difference and that every request ends once. An ordinary test asserts the same
//! over the corpus next to this file.

#![no_main]

#[path = "../../crates/http/tests/h2/invariance.rs"]
mod invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| invariance::check(input));
