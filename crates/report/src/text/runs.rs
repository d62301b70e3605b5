//! The list of recorded runs.

use std::time::Duration;

use plimsoll_analyze::RunEntry;
use plimsoll_units::escape_control;

use super::paragraph::{cut, width};
use crate::amount::at_least;

/// From these columns on there is room for the file, the target and the tags next to the name.
const WIDE: usize = 130;
/// Columns of the limit.
const LIMIT: usize = 28;
/// Where tags begin in a line of their own.
const INDENT: usize = 11;

/// One run of a list.
#[derive(Debug)]
pub struct ListedRun<'a> {
    /// What a command line calls it, such as `last~2`; empty where it has no such name.
    pub name: String,
    /// The name of its file.
    pub file: &'a str,
    /// What it came to, or why that is not known.
    pub entry: Result<&'a RunEntry, String>,
}

/// What a list of runs is written for.
#[derive(Debug, Clone, Copy)]
pub struct RunsPage {
    /// Columns of a line; `usize::MAX` where it is read by another program.
    pub columns: usize,
    /// True if the runs have names by which commands find them.
    pub has_names: bool,
    /// Milliseconds since 1970-01-01 UTC, from which ages count.
    pub now_unix_ms: u64,
}

/// The runs in lines as wide as the page; where that is narrow, only by the one name that a command takes.
pub fn runs(runs: &[ListedRun<'_>], page: RunsPage) -> String {
    page.header() + &runs.iter().map(|run| page.line(run)).collect::<String>()
}

impl RunsPage {
    fn header(&self) -> String {
        let last = match (self.is_wide(), self.has_names) {
            (true, _) => "file, target, tags",
            (false, true) => "target; tags below",
            (false, false) => "file; tags below",
        };
        self.cells(["name", "age", "command", "QPS", "limit", last])
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
        let age = age(Duration::from_millis(self.now_unix_ms.saturating_sub(entry.started_unix_ms)));
        let per_sec = served(entry);
        let last = match (self.is_wide(), self.has_names) {
            (true, _) => format!("{file}  {target}"),
            (false, true) => target,
            (false, false) => file,
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
        let ended = if entry.is_sealed() { "" } else { "(did not end in order) " };
        let last = format!("{ended}{last}{tags_here}");
        let line = self.cells([&run.name, &age, entry.command.name(), &per_sec, &entry.limit_phrase, &last]);
        line + &tags_below
    }

    /// A line: a name, an age, a command, a throughput, a limit and what is last.
    fn cells(&self, [name, age, command, per_sec, limit, last]: [&str; 6]) -> String {
        let name = if self.has_names { format!("{name:<8}") } else { String::new() };
        let limit = cut(limit, LIMIT);
        let line = format!("{name}{age:>6}  {command:<8}{per_sec:>8}  {limit:<LIMIT$}  ");
        let room = self.columns.saturating_sub(width(&line));
        // What a command takes is never cut.
        let last = if self.has_names { cut(last, room) } else { last.to_owned() };
        format!("{}\n", format!("{line}{last}").trim_end())
    }
}

/// The rate that a search found, or else the throughput, in requests per second.
fn served(entry: &RunEntry) -> String {
    let served = entry.figures.served();
    served.map_or_else(|| "0".to_owned(), |(rate, is_least)| at_least(rate.value, is_least))
}

/// An age in its largest unit, rounded down: `59 s`, `3 min`, `5 h`, `12 d`.
fn age(age: Duration) -> String {
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
        let text = |sec| age(Duration::from_secs(sec));
        assert_eq!([text(0), text(59), text(60), text(3_599)], ["0 s", "59 s", "1 min", "59 min"]);
        assert_eq!([text(3_600), text(86_399), text(86_400 * 12)], ["1 h", "23 h", "12 d"]);
    }
}
