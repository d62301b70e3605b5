//! Decodes header blocks, and Huffman strings a second time bit by bit; what may be sent again must
//! decode to itself. An ordinary test asserts the same over the corpus next to this file.

#![no_main]

#[path = "../../crates/http/tests/h2/hpack_check.rs"]
mod hpack_check;

libfuzzer_sys::fuzz_target!(|input: &[u8]| hpack_check::check(input));
