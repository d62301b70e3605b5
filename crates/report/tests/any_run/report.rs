//! Everything that is said of a run, in every form.

use plimsoll_analyze::analyze;
use plimsoll_record::Run;
use plimsoll_report::text::Page;
use plimsoll_report::{Values, csv, dat, json, junit, markdown, text};

/// Asserts that a run is refused with a reason, or that a report of it is made of numbers: the one of this number.
pub(crate) fn check(run: &Run, form: u8) {
    let findings = match analyze(run) {
        Ok(findings) => findings,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let page = Page { width: 80, colours: false, run_name: None };
    let text = match form % 10 {
        0 => text::short(run, &findings, &page),
        1 => text::full(run, &findings),
        2 => text::explanation(run, &findings),
        3 => csv::render(&findings),
        4 => dat::render(&findings).unwrap_or_default(),
        5 => json::render(&json::Document::new(run, &findings, Values::Hidden)).expect("a document"),
        6 => json::render(&json::Document::new(run, &findings, Values::Shown)).expect("a document"),
        7 => json::render(&json::ExplanationDocument::new(&findings)).expect("a document"),
        8 => markdown(run, &findings, Values::Hidden),
        _ => junit(run, &findings, Values::Hidden, form > 127).expect("a document"),
    };
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    assert!(words.all(|word| !matches!(word, "NaN" | "inf")), "{text}");
}
