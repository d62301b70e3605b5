//! Why agents are missing, in as few lines as possible.

use std::fs;
use std::path::Path;

use plimsoll_units::named;

/// The advice for an agent that runs and joins a broker at an address that the user has given.
pub(crate) const JOINS_ANOTHER: &str =
    "it runs, but does not answer at the broker; see that --join and --fleet are one broker";

/// Groups the agents by reason: one line for each reason.
pub(crate) fn together(missing: impl Iterator<Item = (String, String)>) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (name, why) in missing {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let lines: Vec<String> =
        reasons.iter().map(|(why, names)| format!("  {}: {why}", named(names))).collect();
    lines.join("\n")
}

/// How many of the last lines of a process are shown.
const MAX_LINES: usize = 3;

/// Returns the last lines that a process wrote, on one line; `None` if it wrote nothing.
pub(crate) fn last_words(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    let words: Vec<&str> = last.iter().map(|line| line.strip_prefix("plimsoll: ").unwrap_or(line)).collect();
    (!words.is_empty()).then(|| plimsoll_units::escape_control(&words.join("; ")))
}

/// The last words in a log.
pub(crate) fn last_words_in(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    last_words(&String::from_utf8_lossy(&text)).unwrap_or_else(|| "it ended without a word".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_with_one_reason_share_a_line_and_many_are_counted() {
        let agent = |index: usize| {
            let why = if index == 1 { "Evicted" } else { "Unschedulable" };
            (format!("load-{index}"), why.to_owned())
        };
        assert_eq!(
            together((0..8).map(agent)),
            "  load-0, load-2, load-3, load-4, load-5 and 2 more: Unschedulable\n  load-1: Evicted"
        );
    }

    #[test]
    fn the_last_lines_are_shown_on_one() {
        assert_eq!(last_words("a\nb\n\nplimsoll: c\nd\x1b\n").unwrap(), "b; c; d\\u{1b}");
        assert_eq!(last_words(" \n"), None);
    }
}
