//! A row of the view.

use plimsoll_units::{escape_control, grouped};

/// The width of the labels' column.
const LABEL_WIDTH: usize = 11;

/// One line: what it is about, and what is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) label: &'static str,
    text: String,
    pub(super) notable: bool,
}

impl Row {
    pub(super) fn new(label: &'static str, text: String) -> Self {
        Self { label, text, notable: false }
    }

    /// Marked, if it is worth attention.
    pub(super) fn notable(self, notable: bool) -> Self {
        Self { notable, ..self }
    }

    /// The line, under one with the label `above`: a label is not repeated.
    pub(super) fn line(&self, above: &str) -> String {
        let mark = if self.notable { '!' } else { ' ' };
        let label = if self.label == above { "" } else { self.label };
        // Names of processes and answers of servers may hold control characters.
        let text = escape_control(&self.text);
        format!("{mark} {label:<LABEL_WIDTH$} {text}\n")
    }
}

/// A number of things that are there: whole, as it was read.
pub(super) fn level_text(count: f64) -> String {
    grouped(count as u64)
}

/// A share of 1 as whole per cent, or less than one.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 0.5 => format!("{percent:.0} %"),
        percent if percent >= 0.05 => format!("{percent:.1} %"),
        _ => "0 %".to_owned(),
    }
}
