//! Takes lines of the fuzzer's choice as the arguments of wrk and spells what was read in two other ways. An ordinary test
//! asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/wrk/tests/command_line/agreement.rs"]
mod agreement;

libfuzzer_sys::fuzz_target!(|input: &[u8]| agreement::check(input));
