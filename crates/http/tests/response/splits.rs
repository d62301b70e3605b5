//! Split invariance over the fuzzer's corpus, over mutations of it, and over generated streams.

use plimsoll_testkit::{Mutations, seeds};
use proptest::prelude::*;

use super::invariance::check;

const MUTATIONS: Mutations<'_> =
    Mutations { max_places: 48, special_bytes: b"\r\n 0;:,\0", repeated_bytes: 8 };

#[test]
fn the_fuzzers_corpus_reads_the_same_however_it_is_cut() {
    let seeds = seeds("response");
    assert!(seeds.len() >= 40, "the corpus was found");
    seeds.iter().for_each(|seed| check(seed));
}

#[test]
fn mutations_of_the_fuzzers_corpus_read_the_same_however_they_are_cut() {
    for seed in seeds("response") {
        MUTATIONS.each(&seed, check);
    }
}

/// Pieces of responses, so that random streams get past the first byte of a head.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let known: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.0 404 No\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 204\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
        b"Connection: keep-alive\r\n",
        b"X: y\r\n z\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"hello",
        b"5\r\nhello\r\n",
        b"3;a=b\r\n",
        b"0\r\n\r\n",
        b"0\r\nT: u\r\n",
    ];
    prop_oneof![
        8 => prop::sample::select(known).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_read_the_same_however_they_are_cut(
        input in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        check(&input);
    }

    #[test]
    fn shuffled_responses_read_the_same_however_they_are_cut(
        control in any::<[u8; 4]>(),
        fragments in prop::collection::vec(fragment(), 0..16),
    ) {
        let stream = [b"HTTP/1.1 200 OK\r\n".to_vec(), fragments.concat()].concat();
        check(&[&control[..], &stream].concat());
    }
}
