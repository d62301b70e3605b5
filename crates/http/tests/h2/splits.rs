//! Cut invariance over the fuzzer's corpus, over mutations of it, and over generated streams.

use plimsoll_testkit::{Mutations, seeds};
use proptest::prelude::*;

use super::frames::{frame, settings};
use super::invariance::check;

const MUTATIONS: Mutations<'_> =
    Mutations { max_places: 24, special_bytes: &[0, 1, 4, 8, 0x20, 0x88, 0xff], repeated_bytes: 9 };
/// Longer seeds, which are floods, are not mutated.
const MAX_MUTATED_BYTES: usize = 4096;

#[test]
fn the_fuzzers_corpus_reads_the_same_however_it_is_cut() {
    let seeds = seeds("h2");
    assert!(seeds.len() >= 40, "the corpus was found");
    seeds.iter().for_each(|seed| check(seed));
}

#[test]
fn mutations_of_the_fuzzers_corpus_read_the_same_however_they_are_cut() {
    for seed in seeds("h2").iter().filter(|seed| seed.len() <= MAX_MUTATED_BYTES) {
        MUTATIONS.each(seed, check);
    }
}

/// Frames of known types on a few streams, so that random ones get past their headers.
fn some_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        4 => prop::sample::select(vec![&b"\x88"[..], b"\x89", b"", b"hello", b"\0\0\0\x05", b"\0\0\0\0\0\0\0\0"])
            .prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let flags = prop::sample::select(vec![0_u8, 1, 4, 5, 8, 9, 0x0c, 0x0d, 0x20, 0x25]);
    let stream = prop::sample::select(vec![0_u32, 1, 1, 1, 3, 3, 5, 2, 7]);
    (0_u8..11, flags, stream, payload)
        .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload))
}

proptest! {
    #[test]
    fn arbitrary_bytes_read_the_same_however_they_are_cut(
        input in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        check(&input);
    }

    #[test]
    fn arbitrary_frames_read_the_same_however_they_are_cut(
        control in any::<[u8; 5]>(),
        frames in prop::collection::vec(some_frame(), 0..16),
    ) {
        check(&[&control[..], &settings(&[]), &frames.concat()].concat());
    }
}
