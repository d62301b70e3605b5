//! Whatever is typed after wrk's name, it is refused in wrk's way or gives options that are whole.

#[path = "command_line/agreement.rs"]
mod agreement;

use plimsoll_testkit::{Mutations, seeds};

const MUTATIONS: Mutations<'_> = Mutations { max_places: 40, special_bytes: b"\n-=:/ 0k", repeated_bytes: 5 };

#[test]
fn command_lines_of_the_corpus_and_their_mutations_are_refused_or_whole() {
    let seeds = seeds("wrk_options");
    assert!(seeds.len() >= 12, "the corpus was found");
    for seed in &seeds {
        agreement::check(seed);
        MUTATIONS.each(seed, agreement::check);
    }
}
