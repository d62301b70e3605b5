//! What may be wrong with a profile.

/// A profile that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// It cannot be unpacked.
    #[error("the profile cannot be unpacked: {0}")]
    Gzip(#[from] std::io::Error),
    /// It is larger than any profile that is useful.
    #[error("the profile has more than {most_bytes} bytes unpacked; take one of fewer seconds")]
    TooLarge {
        /// Bytes that are allowed.
        most_bytes: u64,
    },
    /// It is not the protobuf of pprof.
    #[error(
        "this is no profile of pprof ({0}); the page must be a CPU profile, such as /debug/pprof/profile of Go"
    )]
    Protobuf(#[from] prost::DecodeError),
    /// It is not a profile of CPU time.
    #[error(
        "the profile contains {kinds} and not CPU time; the CPU profile of Go is at /debug/pprof/profile"
    )]
    NotCpu {
        /// What it contains.
        kinds: String,
    },
    /// It refers to something that it does not hold.
    #[error("the profile is damaged: it names {what} {id} and does not hold it")]
    Dangling {
        /// The kind of thing.
        what: &'static str,
        /// Its number.
        id: u64,
    },
    /// A line of `perf script` is not what it should be.
    #[error("line {line} of perf's text is neither a sample nor a frame: `{text}`")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The line, shortened.
        text: String,
    },
}
