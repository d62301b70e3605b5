//! Properties that hold for any input, over the fuzzer's corpus and over texts made here; and the documentation.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "in tests, a failed step is the failure")]

mod documentation;
mod requests_invariance;
mod template_invariance;

use std::fs;
use std::path::Path;

use proptest::prelude::*;

/// Every file of the fuzzer's corpus for a target; the least number says that it was found.
fn check_corpus(target: &str, count_min: usize, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(entries.len() >= count_min, "the corpus was found");
    entries.iter().for_each(|path| check(&fs::read(path).unwrap()));
}

#[test]
fn templates_of_the_corpus_keep_what_they_promise() {
    check_corpus("template", 8, template_invariance::check);
}

#[test]
fn requests_rows_and_checks_of_the_corpus_keep_what_they_promise() {
    check_corpus("requests", 8, requests_invariance::check);
}

/// Texts in which variables and their parts are frequent.
fn likely_template() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("${uuid}"),
        Just("${counter}"),
        Just("${timestamp_ms}"),
        Just("${csv.full name}"),
        Just("${random(-5,5)}"),
        Just("${env.A}"),
        Just("$${"),
        Just("${"),
        Just("$"),
        Just("}"),
        Just("\n"),
        "[ -~]{0,5}".prop_map(|text| &*text.leak()),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_text_is_a_template_that_keeps_what_it_promises_or_is_refused(
        text in prop_oneof![likely_template(), prop::collection::vec(any::<u8>(), 0..100)],
    ) {
        template_invariance::check(&text);
    }

    #[test]
    fn any_text_is_a_file_that_keeps_what_it_promises_or_is_refused(text in "(?s)(GET /a\n|# plimsoll: |weight=|X: |@|/|\\{|\"|,|.){0,30}") {
        requests_invariance::check(text.as_bytes());
    }
}
