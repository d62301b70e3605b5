//! Requests are the same however they are cut into reads.

#[path = "requests/invariance.rs"]
mod invariance;

use plimsoll_testkit::{Mutations, seeds};

const MUTATIONS: Mutations<'_> =
    Mutations { max_places: 40, special_bytes: b"\r\n :0;\xff", repeated_bytes: 8 };

#[test]
fn requests_of_the_corpus_and_their_mutations_read_the_same_however_they_are_cut() {
    let seeds = seeds("target_requests");
    assert!(seeds.len() >= 15, "the corpus was found");
    for seed in &seeds {
        invariance::check(seed);
        MUTATIONS.each(seed, invariance::check);
    }
}
