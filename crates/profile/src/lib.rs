//! CPU profiles as stacks of functions, and their cost per request.
//!
//! A profile is parsed from the recorded form: the protobuf of pprof as the server sent it, or the text of `perf script`. Both become
//! [`Stacks`], from which all tables and figures are made. The crate is pure: it uses no file and no clock.

mod form;
mod per_request;
mod perf;
mod pprof;
mod stacks;

pub use form::{pack, parse};
pub use per_request::{Change, Micros, PerRequest, difference};
pub use stacks::{Cost, FunctionCost, MAX_FRAMES, Stacks};

/// Why a profile cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("the profile cannot be unpacked: {0}")]
    Gzip(#[from] std::io::Error),
    #[error("the profile has more than {most_bytes} bytes unpacked; take one of fewer seconds")]
    TooLarge { most_bytes: u64 },
    #[error(
        "this is no profile of pprof ({0}); the page must be a CPU profile, such as /debug/pprof/profile of Go"
    )]
    Protobuf(#[from] prost::DecodeError),
    #[error(
        "the profile contains {kinds} and no cpu in a unit of time; the CPU profile of Go is at /debug/pprof/profile"
    )]
    NotCpu { kinds: String },
    #[error("the profile is damaged: it names {what} {id} and does not hold it")]
    Dangling { what: &'static str, id: u64 },
    #[error("line {line} of perf's text is neither a sample nor a frame: `{text}`")]
    Line { line: usize, text: String },
}
