//! Takes bytes of the fuzzer's choice as the samples that another process sends, whole and in pieces. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/host/tests/any_bytes/sample_stream.rs"]
mod sample_stream;

libfuzzer_sys::fuzz_target!(|input: &[u8]| sample_stream::check(input));
