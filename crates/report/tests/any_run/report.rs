//! Everything that is said of a run, in every form.

use plimsoll_analyze::analyze;
use plimsoll_record::Run;
use plimsoll_report::text::Page;
use plimsoll_report::{Values, csv, dat, json, text};

/// Asserts that a run is refused with a reason, or every report of it is made of numbers.
pub(crate) fn check(run: &Run) {
    let findings = match analyze(run) {
        Ok(findings) => findings,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let page = Page { width: 80, colours: false, run_name: None };
    let mut shown = vec![
        text::short(run, &findings, &page),
        text::full(run, &findings),
        text::explanation(run, &findings),
        csv::render(&findings),
    ];
    shown.extend(dat::render(&findings).ok());
    for text in &shown {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        assert!(words.all(|word| !matches!(word, "NaN" | "inf")), "{text}");
    }
    for values in [Values::Hidden, Values::Shown] {
        json::render(&json::Document::new(run, &findings, values)).expect("a document");
    }
    json::render(&json::ExplanationDocument::new(&findings)).expect("a document");
}
