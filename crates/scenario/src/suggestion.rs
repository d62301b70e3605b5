//! Texts for errors about mistyped names: the name itself, a similar one, and the known ones.

use plimsoll_units::{escape_control, nearest};

/// Returns a suggestion for an error about `name`: the most similar known name in parentheses, or nothing if none is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |one| format!(" (did you mean `{}`?)", quoted(one)))
}

/// Lists names for an error, in backquotes and separated by commas. A long list is cut and says so.
pub(crate) fn listed<'a>(known: impl ExactSizeIterator<Item = &'a str>) -> String {
    const MAX_SHOWN: usize = 20;
    let left_out = known.len().saturating_sub(MAX_SHOWN);
    let shown: Vec<String> = known.take(MAX_SHOWN).map(|one| format!("`{}`", quoted(one))).collect();
    let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
    shown.join(", ") + &more
}

/// Makes a text from the user fit for an error: short and on one line.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let short: String = text.chars().take(MAX_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{}{more}", escape_control(&short))
}
