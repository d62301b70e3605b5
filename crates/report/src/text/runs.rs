//! The list of recorded runs.

use std::time::Duration;

use plimsoll_analyze::RunEntry;
use plimsoll_units::escape_control;

use super::paragraph::{cut, width};
use crate::amount::at_least;

/// The number of columns from which the file, the target and the tags fit next to the name.
const WIDE: usize = 130;
/// The width of the column of limits.
const LIMIT: usize = 28;
/// The indent of tags in a line of their own.
const INDENT: usize = 11;

/// One run of a list.
#[derive(Debug)]
pub struct ListedRun<'a> {
    /// The name on a command line, such as `last~2`, or `store`; empty if it has none.
    pub name: String,
    /// True for a run of the store: commands find it by its file.
    pub is_stored: bool,
    /// The name of its file.
    pub file: &'a str,
    /// The run's key figures, or why they are not known.
    pub entry: Result<&'a RunEntry, String>,
}

/// The form of a list of runs.
#[derive(Debug, Clone, Copy)]
pub struct RunsPage {
    /// The width of a line; `usize::MAX` if another program reads it.
    pub columns: usize,
    /// True if the runs have names by which commands find them.
    pub has_names: bool,
    /// Milliseconds since 1970-01-01 UTC, from which ages count.
    pub now_unix_ms: u64,
}

/// Returns the runs in lines as wide as the page. On a narrow page, a run has only the one name that a command accepts.
pub fn runs(runs: &[ListedRun<'_>], page: RunsPage) -> String {
    let has_stored = runs.iter().any(|run| run.is_stored);
    page.header(has_stored) + &runs.iter().map(|run| page.line(run)).collect::<String>()
}

impl RunsPage {
    fn header(&self, has_stored: bool) -> String {
        let last = match (self.is_wide(), self.has_names) {
            (true, _) => "file, target, tags",
            (false, true) if has_stored => "target or file",
            (false, true) => "target; tags below",
            (false, false) => "file; tags below",
        };
        self.cells(["name", "age", "command", "QPS", "limit", last], 0)
    }

    fn is_wide(&self) -> bool {
        self.columns >= WIDE
    }

    fn line(&self, run: &ListedRun<'_>) -> String {
        let file = escape_control(run.file);
        let entry = match &run.entry {
            Err(reason) => return format!("unreadable  {file}: {}\n", escape_control(reason)),
            Ok(entry) => entry,
        };
        let target = escape_control(&entry.target);
        let age = self.now_unix_ms.checked_sub(entry.started_unix_ms);
        let age = age.map_or_else(|| "future".to_owned(), |ms| age_text(Duration::from_millis(ms)));
        let per_sec = served(entry);
        let ended = match (entry.is_sealed(), entry.ended_early) {
            (false, _) => "(did not end in order) ",
            (true, true) => "(ended early) ",
            (true, false) => "",
        };
        // The name that a command accepts is never cut.
        let kept = match (self.has_names, run.is_stored) {
            (false, _) => usize::MAX,
            (true, true) => width(ended) + width(&file) + 2,
            (true, false) => 0,
        };
        let last = match (self.is_wide(), kept) {
            (true, _) => format!("{file}  {target}"),
            (false, 0) => target,
            (false, _) => file,
        };
        let tags = escape_control(&entry.tags.to_string());
        let (tags_here, tags_below) = match (tags.is_empty(), self.is_wide()) {
            (true, _) => (String::new(), String::new()),
            (false, true) => (format!("  {tags}"), String::new()),
            (false, false) => {
                let room = self.columns.saturating_sub(INDENT);
                (String::new(), format!("{:INDENT$}{}\n", "", cut(&tags, room)))
            }
        };
        let last = format!("{ended}{last}{tags_here}");
        let cells: [&str; 6] = [&run.name, &age, entry.command.name(), &per_sec, &entry.limit_phrase, &last];
        self.cells(cells, kept) + &tags_below
    }

    /// Formats a line. At least `kept` columns of the last cell are shown.
    fn cells(&self, [name, age, command, per_sec, limit, last]: [&str; 6], kept: usize) -> String {
        let name = if self.has_names { format!("{name:<8}") } else { String::new() };
        let limit = cut(limit, LIMIT);
        let line = format!("{name}{age:>6}  {command:<8}{per_sec:>8}  {limit:<LIMIT$}  ");
        let room = self.columns.saturating_sub(width(&line));
        let last = cut(last, room.max(kept));
        format!("{}\n", format!("{line}{last}").trim_end())
    }
}

/// Returns the rate that a search found, or else the throughput, in requests per second.
fn served(entry: &RunEntry) -> String {
    let served = entry.figures.served();
    served.map_or_else(|| "0".to_owned(), |(rate, is_least)| at_least(rate.value, is_least))
}

/// Formats an age in its largest unit, rounded down: `59 s`, `3 min`, `5 h`, `12 d`.
fn age_text(age: Duration) -> String {
    let sec = age.as_secs();
    match sec {
        0..60 => format!("{sec} s"),
        60..3_600 => format!("{} min", sec / 60),
        3_600..86_400 => format!("{} h", sec / 3_600),
        _ => format!("{} d", sec / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let text = |sec| age_text(Duration::from_secs(sec));
        assert_eq!([text(0), text(59), text(60), text(3_599)], ["0 s", "59 s", "1 min", "59 min"]);
        assert_eq!([text(3_600), text(86_399), text(86_400 * 12)], ["1 h", "23 h", "12 d"]);
    }
}
