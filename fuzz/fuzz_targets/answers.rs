//! Takes bytes of the fuzzer's choice as answers of Redis, memcached, nginx and others, whole and in pieces. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/host/tests/any_bytes/answers.rs"]
mod answers;

libfuzzer_sys::fuzz_target!(|input: &[u8]| answers::check(input));
