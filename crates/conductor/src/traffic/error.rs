//! Why the requests of a plan cannot be sent.

use std::fmt;
use std::path::PathBuf;

use plimsoll_plan::TargetError;
use plimsoll_scenario::{CheckError, FeederError, MixError, TemplateError, UnfitError};

/// A part of one request, for errors: «the body of the request in line 3».
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which part.
    pub what: String,
    /// The line of the file in which the request begins; 0 for the command's own.
    pub line: usize,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "{} of the request in line {line}", self.what),
        }
    }
}

/// Why the requests of a plan cannot be sent. Each of these is a mistake in what was typed.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A text is no template.
    #[error("{part}: {source}")]
    Template {
        /// Where it stands.
        part: Part,
        /// What is wrong with it.
        source: Box<TemplateError>,
    },
    /// What a template writes would break the request.
    #[error("{part}: {source}")]
    Unfit {
        /// Where it stands.
        part: Part,
        /// What it would write.
        source: Box<UnfitError>,
    },
    /// The request cannot be encoded.
    #[error("{part}: {source}")]
    Target {
        /// Which request.
        part: Part,
        /// What is wrong with it.
        source: Box<TargetError>,
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
