//! Samples as lines of text, from a process that looks at hosts to one that does not: `plimsoll probe --stream` over ssh,
//! or a lab's parent to the generator in it.
//!
//! The first line is `{"plimsoll_probe":1,"clock_ns":…}`, the version of the form and the writer's CLOCK_MONOTONIC. Each
//! other line is one sample, with times of the same clock: `{"host","source","subject","began_ns","ended_ns"}` and one of
//! `"ok":{…}`, `"absent":true` and `"failed":"why"`.

use std::io::{self, BufRead, Read as _};

use plimsoll_record::{Counters, HostSample, Reading, Text};
use plimsoll_units::{Clock, Instant, RealClock};
use serde::{Deserialize, Serialize};

mod remote;
mod ssh;

pub use remote::{Ender, Remote};
pub use ssh::Ssh;

/// The version of the form. A reader takes only its own; fields may be added without a new one.
const VERSION: u64 = 1;

/// A line may be this long, which is a hundred times the longest that is written.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Lines that may stand before the first of ours: what a login shell's start-up files print.
const FOREIGN_LINES_MAX: usize = 100;

/// So much of a line that is not understood is shown.
const SHOWN: usize = 60;

/// Why no more samples come.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// What should write samples could not be started.
    #[error("could not start `{program}` for {place} ({reason}); see that it is installed and on the PATH")]
    NotStarted {
        /// The program.
        program: String,
        /// Whose samples were wanted.
        place: String,
        /// What the system said.
        reason: io::Error,
    },
    /// Reading failed.
    #[error("could not read samples of {place} ({reason})")]
    Unreadable {
        /// Whose samples.
        place: String,
        /// What the system said.
        reason: io::Error,
    },
    /// What came is no stream of samples.
    #[error(
        "{place} sent `{line}` instead of samples; see that plimsoll there is this tool, and no older one"
    )]
    Foreign {
        /// Whose samples.
        place: String,
        /// The beginning of the line.
        line: String,
    },
    /// The other side speaks another version.
    #[error(
        "plimsoll of {place} sends samples in version {theirs} of their form and this one reads {VERSION}; \
         install the same plimsoll on both machines"
    )]
    Version {
        /// Whose samples.
        place: String,
        /// The version sent.
        theirs: u64,
    },
    /// The stream ended.
    #[error("the samples of {place} ended ({reason})")]
    Ended {
        /// Whose samples.
        place: String,
        /// How.
        reason: String,
    },
    /// ssh came to no session.
    #[error(
        "ssh could not log in to {place} ({reason}); `ssh -o BatchMode=yes` must work there without a question: \
         a key or an agent, and a known host key"
    )]
    Login {
        /// Where to.
        place: String,
        /// What ssh said.
        reason: String,
    },
    /// There is no Plimsoll on the other side.
    #[error(
        "there is no plimsoll on {place} ({reason}); copy this binary to a folder of the PATH that commands over ssh have there"
    )]
    NotInstalled {
        /// Where.
        place: String,
        /// What the shell said.
        reason: String,
    },
}

/// The first line of a stream.
#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    plimsoll_probe: u64,
    clock_ns: u64,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    host: Text,
    source: Text,
    #[serde(default)]
    subject: Text,
    began_ns: u64,
    ended_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ok: Option<Counters>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    absent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// The first line of a stream, with its end.
pub fn opening_line() -> String {
    json_line(&Opening { plimsoll_probe: VERSION, clock_ns: RealClock.now().as_nanos() })
}

/// The line of a sample, with its end. Its times must be those of CLOCK_MONOTONIC: taken with an origin of zero.
pub fn sample_line(sample: &HostSample) -> String {
    let (ok, absent, failed) = match &sample.reading {
        Reading::Ok(counters) => (Some(counters.clone()), false, None),
        Reading::Absent => (None, true, None),
        Reading::Failed(why) => (None, false, Some(why.clone())),
    };
    json_line(&Line {
        host: sample.host.clone(),
        source: sample.source.clone(),
        subject: sample.subject.clone(),
        began_ns: sample.began_ns,
        ended_ns: sample.ended_ns,
        ok,
        absent,
        failed,
    })
}

/// Structures of texts and numbers always have a JSON form.
fn json_line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// Whose clock the times of a stream are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamClock {
    /// This machine's: they are taken as they are.
    Ours,
    /// Another machine's. Its clock differs from ours by an unknown span, and what it sends takes an unknown time: the
    /// smallest difference of arrival and sending seen so far is the span and the shortest way. Samples are placed too late by
    /// that way, never after their arrival.
    Theirs,
}

/// Reads a stream of samples.
#[derive(Debug)]
pub struct SampleStream<R> {
    input: R,
    place: String,
    origin: Instant,
    /// What is added to their times to get ours; `None` for our own clock.
    offset_ns: Option<i128>,
}

impl<R: BufRead> SampleStream<R> {
    /// Reads the first line, which it waits for. `place` names the other side in errors; times of samples will count from
    /// `origin`, an instant of our clock.
    ///
    /// # Errors
    /// When what comes is no such stream, or one of another version.
    pub fn begin(input: R, place: &str, clock: StreamClock, origin: Instant) -> Result<Self, StreamError> {
        let mut stream = Self { input, place: place.to_owned(), origin, offset_ns: None };
        let opening = stream.opening()?;
        if opening.plimsoll_probe != VERSION {
            return Err(StreamError::Version { place: stream.place, theirs: opening.plimsoll_probe });
        }
        if clock == StreamClock::Theirs {
            stream.offset_ns = Some(delay(RealClock.now(), opening.clock_ns));
        }
        Ok(stream)
    }

    /// The next sample, which is waited for; `None` at the stream's end.
    ///
    /// # Errors
    /// When a line is no sample, or nothing can be read.
    pub fn next_sample(&mut self) -> Result<Option<HostSample>, StreamError> {
        let Some(text) = self.line()? else { return Ok(None) };
        let arrived = RealClock.now();
        let sample = sample(&text).ok_or_else(|| self.foreign(&text))?;
        Ok(Some(self.placed(sample, arrived)))
    }

    fn opening(&mut self) -> Result<Opening, StreamError> {
        let mut first = None;
        for _ in 0..FOREIGN_LINES_MAX {
            let Some(text) = self.line()? else { break };
            match serde_json::from_str(&text) {
                Ok(opening) => return Ok(opening),
                Err(_) => first = first.or(Some(text)),
            }
        }
        let ended =
            || StreamError::Ended { place: self.place.clone(), reason: "before the first".to_owned() };
        Err(first.map_or_else(ended, |text| self.foreign(&text)))
    }

    fn line(&mut self) -> Result<Option<String>, StreamError> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let read = read.map_err(|reason| StreamError::Unreadable { place: self.place.clone(), reason })?;
        Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    fn foreign(&self, text: &str) -> StreamError {
        let line = text.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
        StreamError::Foreign { place: self.place.clone(), line }
    }

    /// The sample with times of the run.
    fn placed(&mut self, sample: HostSample, arrived: Instant) -> HostSample {
        let offset_ns = self.offset_ns.as_mut().map_or(0, |offset| {
            *offset = (*offset).min(delay(arrived, sample.ended_ns));
            *offset
        });
        let origin_ns = i128::from(self.origin.as_nanos());
        // What began before the run is put at its begin, as on our own clock.
        let ours = |ns: u64| u64::try_from(i128::from(ns) + offset_ns - origin_ns).unwrap_or(0);
        HostSample { began_ns: ours(sample.began_ns), ended_ns: ours(sample.ended_ns), ..sample }
    }
}

/// From an instant of their clock to an arrival on ours.
fn delay(arrived: Instant, theirs_ns: u64) -> i128 {
    i128::from(arrived.as_nanos()) - i128::from(theirs_ns)
}

/// The sample of a line: it says exactly one of the three things.
fn sample(text: &str) -> Option<HostSample> {
    let line: Line = serde_json::from_str(text).ok()?;
    let reading = match (line.ok, line.absent, line.failed) {
        (Some(counters), false, None) => Reading::Ok(counters),
        (None, true, None) => Reading::Absent,
        (None, false, Some(why)) => Reading::Failed(why),
        _ => return None,
    };
    Some(HostSample {
        host: line.host,
        source: line.source,
        subject: line.subject,
        began_ns: line.began_ns,
        ended_ns: line.ended_ns,
        reading,
    })
}

#[cfg(test)]
mod tests;
