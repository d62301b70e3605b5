//! Whatever is typed as an amount is read or refused, and whatever is printed is a figure.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "quantities/agreement.rs"]
mod agreement;

use plimsoll_testkit::{Mutations, seeds};

const MUTATIONS: Mutations<'_> =
    Mutations { max_places: 24, special_bytes: b" .0129ekKmMnsu/iB\xff", repeated_bytes: 3 };

#[test]
fn amounts_of_the_corpus_are_read_and_printed_as_they_must() {
    let seeds = seeds("quantities");
    assert!(seeds.len() >= 20, "the corpus was found");
    for seed in &seeds {
        agreement::check(seed);
        MUTATIONS.each(seed, agreement::check);
    }
}
