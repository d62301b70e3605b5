//! Why the requests of a plan cannot be sent.

use std::path::PathBuf;

use plimsoll_http::EncodeError;
use plimsoll_scenario::{CheckError, FeederError, MixError, TemplateError, UnfitError};

/// Why the requests of a plan cannot be sent. Each of these is a mistake in what was typed.
///
/// A `line` is that of the file of requests in which the request begins; 0 for the command's own request.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A text is no template.
    #[error("{part}{}: {source}", line_suffix(*.line))]
    Template {
        /// The path, a header or the body.
        part: String,
        /// Where its request begins.
        line: usize,
        /// What is wrong with it.
        source: Box<TemplateError>,
    },
    /// A request cannot be encoded.
    #[error("{}{source}", line_prefix(*.line))]
    Encode {
        /// Where it begins.
        line: usize,
        /// What is wrong with it.
        source: Box<EncodeError<UnfitError>>,
    },
    /// The CSV file cannot be used.
    #[error("{}: {source}", .path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<FeederError>,
    },
    /// A check is none.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The weights make no mix.
    #[error(transparent)]
    Mix(#[from] MixError),
}

fn line_suffix(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" of the request in line {line}") }
}

fn line_prefix(line: usize) -> String {
    if line == 0 { String::new() } else { format!("the request in line {line}: ") }
}
