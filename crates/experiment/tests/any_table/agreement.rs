//! What holds for every table that another tool measured: shared by the tests and the fuzz target.

use std::cell::RefCell;
use std::fs;

use plimsoll_analyze::{TableRow, explain_table};
use plimsoll_experiment::{Mapping, read_table};
use plimsoll_report::{json, text};
use tempfile::TempDir;

thread_local! {
    /// Where the tables are that are read.
    static FOLDER: RefCell<TempDir> = RefCell::new(tempfile::tempdir().expect("a folder"));
}

/// Takes the first line as the values of `--map`, separated by bars, and the rest as a table. It is refused with a reason, or its
/// figures are numbers, and so is all that is said of it.
pub(crate) fn check(input: &[u8]) {
    let line_end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (first, table) = input.split_at(line_end);
    let typed: Vec<String> = String::from_utf8_lossy(first).split('|').map(str::to_owned).collect();
    let typed: Vec<String> = typed.into_iter().filter(|text| !text.is_empty()).collect();
    let mapping = match Mapping::parse(&typed) {
        Ok(mapping) => mapping,
        Err(error) => return assert!(error.to_string().contains("--map"), "{error}"),
    };
    let path = FOLDER.with_borrow(|folder| folder.path().join("table.csv"));
    fs::write(&path, table.get(1..).unwrap_or_default()).expect("a table");
    let (rows, reading) = match read_table(&path, &mapping) {
        Ok(read) => read,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(!rows.is_empty() && rows.iter().all(is_plain), "{rows:?}");
    let found = explain_table(&rows);
    let shown = text::table_explanation(&found, &reading);
    let document = json::render(&json::TableDocument::new(&found, &reading)).expect("a document");
    assert!(document.len() < (1 << 16) + 400 * input.len(), "{} of {} bytes", document.len(), input.len());
    if !has_no_number(&String::from_utf8_lossy(input).to_lowercase().replace("nan", "NaN")) {
        assert!(!has_no_number(&shown), "{shown}");
        assert!(!has_no_number(&format!("{rows:?}")), "{rows:?}");
    }
}

/// Figures are not below zero, and shares no more than all.
fn is_plain(row: &TableRow) -> bool {
    let is_plain = |value: f64| value.is_finite() && value >= 0.0;
    is_plain(row.throughput_per_sec) && row.throughput_per_sec > 0.0 && !row.label.is_empty()
}

/// True for a text that has the word for what is no number.
fn has_no_number(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric())
        .any(|word| matches!(word, "NaN" | "inf" | "infinity"))
}
