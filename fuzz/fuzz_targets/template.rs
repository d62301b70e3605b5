//! Takes texts of the fuzzer's choice as templates and asserts what holds for every one of them. An
//! ordinary test asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/scenario/tests/scenario/template_invariance.rs"]
mod template_invariance;

libfuzzer_sys::fuzz_target!(|input: &[u8]| template_invariance::check(input));
