//! The source of a CPU profile of the target at the plateau.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::typed::{self, stored_as_typed};

/// The shortest and the longest time of a profile: servers take whole seconds, and their writes time out eventually.
const MIN_TIME: Duration = Duration::from_secs(1);
const MAX_TIME: Duration = Duration::from_secs(300);

/// The source of a CPU profile, typed, printed and stored in one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Profiler {
    /// The URL of a CPU profile in pprof's format, which accepts `?seconds=N`.
    Page(String),
    /// `perf` on this machine.
    Perf(Profiled),
}

/// Which processes `perf` samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profiled {
    /// The processes that serve the target's port, on this machine.
    Target,
    /// The process with this id.
    Pid(u32),
    /// The processes that listen on this port, and their children.
    Port(u16),
}

/// A profile request that is not valid.
#[derive(Debug, thiserror::Error)]
pub enum ProfilerError {
    #[error(
        "`{text}` is no source of a profile: {reason}; write http://HOST:PORT/debug/pprof/profile, perf, perf:PID or \
         perf::PORT"
    )]
    Source { text: String, reason: String },
    #[error("the time of a profile is {0:?}; it must be at least 1 s and at most 5 minutes")]
    Time(Duration),
}

impl FromStr for Profiler {
    type Err = ProfilerError;

    fn from_str(text: &str) -> Result<Self, ProfilerError> {
        let text = text.trim();
        parsed(text).map_err(|reason| ProfilerError::Source { text: text.to_owned(), reason })
    }
}

fn parsed(text: &str) -> Result<Profiler, String> {
    if text == "perf" {
        return Ok(Profiler::Perf(Profiled::Target));
    }
    if let Some(port) = text.strip_prefix("perf::") {
        return typed::port(port).map(|port| Profiler::Perf(Profiled::Port(port)));
    }
    if let Some(pid) = text.strip_prefix("perf:") {
        return typed::pid(pid).map(|pid| Profiler::Perf(Profiled::Pid(pid)));
    }
    let uri = typed::page(text, "it")?;
    if uri.query().is_some_and(|query| query.split('&').any(|part| part.starts_with("seconds="))) {
        return Err("how many seconds it takes is not for its URL to say".to_owned());
    }
    Ok(Profiler::Page(text.to_owned()))
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(url) => f.write_str(url),
            Self::Perf(Profiled::Target) => f.write_str("perf"),
            Self::Perf(Profiled::Pid(pid)) => write!(f, "perf:{pid}"),
            Self::Perf(Profiled::Port(port)) => write!(f, "perf::{port}"),
        }
    }
}

stored_as_typed!(Profiler);

/// The profile that a plan asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileOrder {
    pub profiler: Profiler,
    pub time: Duration,
}

/// A profile as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSpec {
    /// What takes the profile.
    pub source: String,
    pub time: Duration,
}

impl ProfileSpec {
    /// The time of a profile if none is given.
    pub const DEFAULT_TIME: Duration = Duration::from_secs(10);

    /// Parses the source and checks the time.
    ///
    /// # Errors
    /// When the source cannot be parsed, or the time is out of range.
    pub fn freeze(&self) -> Result<ProfileOrder, ProfilerError> {
        if !(MIN_TIME..=MAX_TIME).contains(&self.time) {
            return Err(ProfilerError::Time(self.time));
        }
        Ok(ProfileOrder { profiler: self.source.parse()?, time: self.time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_printed_as_it_is_typed() {
        for text in ["http://10.0.0.1:8080/debug/pprof/profile?x=1", "perf", "perf:12", "perf::8080"] {
            assert_eq!(text.parse::<Profiler>().unwrap().to_string(), text);
        }
        assert_eq!("perf::80".parse::<Profiler>().unwrap(), Profiler::Perf(Profiled::Port(80)));
    }

    #[test]
    fn what_is_no_source_is_refused_with_those_that_are() {
        let wrong = [
            "",
            "perf:",
            "perf:nginx",
            "perf::0",
            "/debug/pprof",
            "ftp://a/b",
            "http://me:x@a/b",
            "http://a/b?seconds=5",
        ];
        for text in wrong {
            let error = text.parse::<Profiler>().unwrap_err().to_string();
            assert!(error.contains("perf::PORT"), "{error}");
        }
        let short = ProfileSpec { source: "perf".to_owned(), time: Duration::from_millis(500) };
        assert!(short.freeze().unwrap_err().to_string().contains("at least 1 s"));
    }
}
