//! A row of the view.

use plimsoll_units::{escape_control, grouped};

/// The width of the labels' column.
const LABEL_WIDTH: usize = 11;

/// One line: a label and a text.
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

    /// Marks the row as worth attention.
    pub(super) fn notable(self, notable: bool) -> Self {
        Self { notable, ..self }
    }

    /// Formats the line. The label is left out if it is the same as `above`, the label of the previous line.
    pub(super) fn line(&self, above: &str) -> String {
        let mark = if self.notable { '!' } else { ' ' };
        let label = if self.label == above { "" } else { self.label };
        // Names of processes and answers of servers may hold control characters.
        let text = escape_control(&self.text);
        format!("{mark} {label:<LABEL_WIDTH$} {text}\n")
    }
}

/// Formats a level as a whole number.
pub(super) fn level_text(count: f64) -> String {
    grouped(count as u64)
}

/// Formats a share, 0 to 1, in whole per cent; below 0.5 %, with one decimal.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 0.5 => format!("{percent:.0} %"),
        percent if percent >= 0.05 => format!("{percent:.1} %"),
        _ => "0 %".to_owned(),
    }
}
