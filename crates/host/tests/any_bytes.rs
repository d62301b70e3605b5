//! Whatever a component or another machine sends, it is read or refused, and takes no more memory than it has bytes.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "any_bytes/answers.rs"]
mod answers;
#[path = "any_bytes/sample_stream.rs"]
mod sample_stream;

use plimsoll_testkit::{Mutations, seeds};

const OF_ANSWERS: Mutations<'_> =
    Mutations { max_places: 40, special_bytes: b"\0\x01\n{\" :9e\xff", repeated_bytes: 20 };

const OF_STREAMS: Mutations<'_> =
    Mutations { max_places: 40, special_bytes: b"\n\"{}:,0\\\xff", repeated_bytes: 30 };

#[test]
fn streams_of_the_corpus_and_their_mutations_give_samples_or_end() {
    let seeds = seeds("sample_stream");
    assert!(seeds.len() >= 10, "the corpus was found");
    for seed in &seeds {
        sample_stream::check(seed);
        OF_STREAMS.each(seed, sample_stream::check);
    }
}

#[test]
fn answers_of_the_corpus_and_their_mutations_are_read_or_refused() {
    let seeds = seeds("answers");
    assert!(seeds.len() >= 20, "the corpus was found");
    for seed in &seeds {
        answers::check(seed);
        OF_ANSWERS.each(seed, answers::check);
    }
}
