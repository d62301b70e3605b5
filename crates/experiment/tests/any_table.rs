//! Whatever a table holds, it is read or refused, and what is said of it is made of numbers.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "any_table/agreement.rs"]
mod agreement;

use plimsoll_testkit::{Mutations, seeds};

const MUTATIONS: Mutations<'_> = Mutations { max_places: 9, special_bytes: b",\n%09k-", repeated_bytes: 16 };

#[test]
fn tables_of_the_corpus_and_their_mutations_are_explained_in_numbers() {
    let seeds = seeds("tables");
    assert!(seeds.len() >= 12, "the corpus was found");
    for seed in &seeds {
        agreement::check(seed);
        MUTATIONS.each(seed, agreement::check);
    }
}
