//! Errors in the requests of a plan.

use std::path::PathBuf;

use plimsoll_http::EncodeError;
use plimsoll_scenario::{CheckError, FeederError, MixError, TemplateError, UnfitError};

/// Why the requests of a plan cannot be sent. Each error is a mistake in the user's input.
///
/// `line` is the line of the requests file in which the request begins; 0 for the command's own request.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{part}{}: {source}", line_suffix(*.line))]
    Template { part: String, line: usize, source: Box<TemplateError> },
    #[error("{}{source}", line_prefix(*.line))]
    Encode { line: usize, source: Box<EncodeError<UnfitError>> },
    #[error("{}: {source}", .path.display())]
    Csv { path: PathBuf, source: Box<FeederError> },
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Mix(#[from] MixError),
}

fn line_suffix(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" of the request in line {line}") }
}

fn line_prefix(line: usize) -> String {
    if line == 0 { String::new() } else { format!("the request in line {line}: ") }
}
