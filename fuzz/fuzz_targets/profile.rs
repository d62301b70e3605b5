//! Takes bytes of the fuzzer's choice as CPU profiles and asserts what holds for every one that is read. An ordinary test
//! asserts the same over generated ones.

#![no_main]

#[path = "../../crates/profile/tests/any_bytes/agreement.rs"]
mod agreement;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agreement::check(input));
