//! Whatever a server sends, a session reads the same of it however it is cut, and never what the server did not say.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "any_records/invariance.rs"]
mod invariance;

use plimsoll_testkit::{Mutations, seeds};

const MUTATIONS: Mutations<'_> = Mutations { max_places: 8, special_bytes: b"\0\x03\x17", repeated_bytes: 9 };

#[test]
fn records_of_the_corpus_and_their_mutations_read_the_same_however_they_are_cut() {
    let seeds = seeds("tls");
    assert!(seeds.len() >= 12, "the corpus was found");
    for seed in &seeds {
        invariance::check(seed);
        MUTATIONS.each(seed, invariance::check);
    }
}
