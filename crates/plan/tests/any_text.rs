//! Whatever a plan file or a flag says, it is read or refused, and what was read is whole.

#![expect(clippy::expect_used, reason = "in tests, a failed step is the failure")]

#[path = "any_text/plan_file.rs"]
mod plan_file;
#[path = "any_text/values.rs"]
mod values;

use plimsoll_testkit::{Mutations, seeds};

const OF_FILES: Mutations<'_> = Mutations { max_places: 20, special_bytes: b"\"[=0\n", repeated_bytes: 12 };
const OF_VALUES: Mutations<'_> = Mutations { max_places: 24, special_bytes: b"@:/[0(", repeated_bytes: 4 };

#[test]
fn plan_files_of_the_corpus_and_their_mutations_are_refused_or_whole() {
    let seeds = seeds("plan_file");
    assert!(seeds.len() >= 12, "the corpus was found");
    for seed in &seeds {
        plan_file::check(seed);
        OF_FILES.each(seed, plan_file::check);
    }
}

#[test]
fn values_of_the_corpus_and_their_mutations_are_printed_as_they_are_typed() {
    let seeds = seeds("plan_values");
    assert!(seeds.len() >= 20, "the corpus was found");
    for seed in &seeds {
        values::check(seed);
        OF_VALUES.each(seed, values::check);
    }
}
