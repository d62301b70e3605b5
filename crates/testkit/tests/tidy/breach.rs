//! What a rule finds, and how a test tells of it.

use std::error::Error;
use std::fmt;

/// One place that breaks one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    /// Path from the root of the repository.
    pub(crate) file: String,
    /// First line is 1; a breach of a whole file is on line 1.
    pub(crate) line: usize,
    /// The rule, as a short statement of what holds everywhere else.
    pub(crate) rule: &'static str,
    /// What is wrong here and what to do about it.
    pub(crate) advice: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line, self.rule, self.advice)
    }
}

/// Turns breaches into a failed test with one line for each.
pub(crate) fn report(breaches: &[Breach]) -> Result<(), Box<dyn Error>> {
    if breaches.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = breaches.iter().map(Breach::to_string).collect();
    Err(Listed(lines.join("\n")).into())
}

/// A test that returns an error prints it with `Debug`, which would escape the line ends of a plain string.
struct Listed(String);

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the house rules are broken:\n{}", self.0)
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Error for Listed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_a_breach_fails_and_says_file_line_rule_and_advice() {
        let breach = Breach { file: "a.rs".into(), line: 7, rule: "short files", advice: "split it".into() };
        let error = report(&[breach]).unwrap_err();
        assert!(format!("{error:?}").contains("\na.rs:7: short files: split it"));
    }

    #[test]
    fn a_report_of_nothing_passes() {
        assert!(report(&[]).is_ok());
    }
}
