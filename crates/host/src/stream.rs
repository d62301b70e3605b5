//! Samples as lines of text, from a process that samples hosts to another one: from `plimsoll probe --stream` over ssh, or from a
//! lab's parent process to the generator inside the lab.
//!
//! The first line is `{"plimsoll_probe":1,"clock_ns":…}`: the version of the format, and the writer's CLOCK_MONOTONIC. Each other
//! line is one sample, with times of the same clock: `{"host","source","subject","began_ns","ended_ns"}` and one of `"ok":{…}`,
//! `"absent":true` and `"failed":"why"`.

use std::io::{self, BufRead, Read as _};
use std::time::Duration;

use plimsoll_record::{Counters, HostSample, Reading, Source, SourceName, Text};
use plimsoll_units::{Clock, Instant, RealClock};
use serde::{Deserialize, Serialize};

mod remote;
mod ssh;

pub(crate) use remote::KillHandle;
pub use remote::Remote;
pub use ssh::Ssh;

/// The version of the format. A reader accepts only its own version; added fields do not change the version.
const VERSION: u64 = 1;

/// The longest accepted line: a hundred times the longest that is written.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The bytes that another machine may send in one burst, and per second: ten times what a host with 300 processes sends.
const MAX_BURST_BYTES: u64 = 8 << 20;
const MAX_BYTES_PER_SEC: u64 = 1 << 20;

/// How long a window of clock measurements lasts. Measurements expire after one to two windows, because a clock may drift, and
/// stops while a virtual machine is paused.
const CLOCK_WINDOW: Duration = Duration::from_secs(60);

/// The most lines accepted before the opening line: output of a login shell's start-up files.
const MAX_FOREIGN_LINES: usize = 100;

/// The number of characters shown of a line that cannot be parsed.
const SHOWN_CHARS: usize = 60;

/// Why a stream of samples ended. `place` names the sampled machine.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The program that writes the samples could not be started.
    #[error("could not start `{program}` for {place} ({reason}); see that it is installed and on the PATH")]
    NotStarted { program: String, place: String, reason: io::Error },
    #[error("could not read samples of {place} ({reason})")]
    Unreadable { place: String, reason: io::Error },
    /// The text is not a stream of samples; `line` is the beginning of the offending line.
    #[error(
        "{place} sent `{line}` instead of samples; see that plimsoll there is this tool, and no older one"
    )]
    Foreign { place: String, line: String },
    #[error(
        "plimsoll of {place} sends samples in version {theirs} of their form and this one reads {VERSION}; \
         install the same plimsoll on both machines"
    )]
    Version { place: String, theirs: u64 },
    #[error("the samples of {place} ended ({reason})")]
    Ended { place: String, reason: String },
    #[error(
        "{place} sends more than {} MiB of samples a second; see that plimsoll there is this tool, and watch fewer processes",
        MAX_BYTES_PER_SEC >> 20
    )]
    Flood { place: String },
    /// ssh could not open a session.
    #[error(
        "ssh could not log in to {place} ({reason}); `ssh -o BatchMode=yes` must work there without a question: \
         a key or an agent, and a known host key"
    )]
    Login { place: String, reason: String },
    #[error(
        "there is no plimsoll on {place} ({reason}); copy this binary to a folder of the PATH that commands over ssh have there"
    )]
    NotInstalled { place: String, reason: String },
}

/// The first line of a stream.
#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    plimsoll_probe: u64,
    clock_ns: u64,
}

/// A line with one sample.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    host: Text,
    source: SourceName,
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

/// Returns the first line of a stream, with its line end.
///
/// # Errors
/// When it cannot be serialized to JSON.
pub fn opening_line() -> io::Result<String> {
    json_line(&Opening { plimsoll_probe: VERSION, clock_ns: RealClock.now().as_nanos() })
}

/// Returns the line of a sample, with its line end. The sample's times must be of CLOCK_MONOTONIC, that is, taken with an origin of 0.
///
/// # Errors
/// When it cannot be serialized to JSON.
pub fn sample_line(sample: &HostSample) -> io::Result<String> {
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

fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}

/// The clock of the times in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamClock {
    /// This machine's clock: times need no conversion.
    Ours,
    /// Another machine's clock. It differs from ours by an unknown offset, and transit takes an unknown time. The smallest difference
    /// between arrival and sending in the last minute or two is the offset plus the shortest transit. Samples are placed too late
    /// by that transit, but never after their arrival.
    Theirs,
}

/// The smallest delays from another clock to ours, in the current and in the previous window.
#[derive(Debug)]
struct Delays {
    since: Instant,
    current_ns: i128,
    previous_ns: i128,
}

impl Delays {
    fn new(delay_ns: i128, now: Instant) -> Self {
        Self { since: now, current_ns: delay_ns, previous_ns: delay_ns }
    }

    /// Adds a delay, and returns the smallest one.
    fn add(&mut self, delay_ns: i128, now: Instant) -> i128 {
        if now.since(self.since) >= CLOCK_WINDOW {
            *self = Self { since: now, current_ns: delay_ns, previous_ns: self.current_ns };
        }
        self.current_ns = self.current_ns.min(delay_ns);
        self.current_ns.min(self.previous_ns)
    }
}

/// A reader of a stream of samples.
#[derive(Debug)]
pub struct SampleStream<R> {
    input: R,
    place: String,
    origin: Instant,
    /// The delays from the other clock to ours; the smallest is added to the times of samples. `None` for our own clock.
    delays: Option<Delays>,
    allowance: Allowance,
}

/// The bytes that a stream may still send: a token bucket that fills at [`MAX_BYTES_PER_SEC`].
#[derive(Debug)]
struct Allowance {
    bytes: u64,
    at: Instant,
}

impl Allowance {
    /// Consumes the bytes that have arrived; false if they exceed the allowance.
    fn take(&mut self, bytes: u64, now: Instant) -> bool {
        let earned = now.nanos_since(self.at) / 1_000 * MAX_BYTES_PER_SEC / 1_000_000;
        if earned > 0 {
            self.bytes = (self.bytes + earned).min(MAX_BURST_BYTES);
            self.at = now;
        }
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }
}

/// Whether only this machine can report a source: its own ports and descriptors, values declared in the plan, and raised caps.
fn is_ours_to_say(source: &SourceName) -> bool {
    let ours = [Source::Ports, Source::Descriptors, Source::Declared, Source::Intervention];
    source.known().is_some_and(|source| ours.contains(&source))
}

impl<R: BufRead> SampleStream<R> {
    /// Waits for the first line and reads it. `place` names the other side in errors. Times of samples count from `origin`, an
    /// instant of our clock.
    ///
    /// # Errors
    /// When the text is not such a stream, or one of another version.
    pub fn begin(input: R, place: &str, clock: StreamClock, origin: Instant) -> Result<Self, StreamError> {
        let allowance = Allowance { bytes: MAX_BURST_BYTES, at: RealClock.now() };
        let mut stream = Self { input, place: place.to_owned(), origin, delays: None, allowance };
        let opening = stream.opening()?;
        if opening.plimsoll_probe != VERSION {
            return Err(StreamError::Version { place: stream.place, theirs: opening.plimsoll_probe });
        }
        if clock == StreamClock::Theirs {
            let now = RealClock.now();
            stream.delays = Some(Delays::new(delay(now, opening.clock_ns), now));
        }
        Ok(stream)
    }

    /// Waits for the next sample; `None` at the end of the stream.
    ///
    /// # Errors
    /// When a line is not a sample, or reading fails.
    pub fn next_sample(&mut self) -> Result<Option<HostSample>, StreamError> {
        let Some(text) = self.line()? else { return Ok(None) };
        let arrived = RealClock.now();
        let is_remote = self.delays.is_some();
        if is_remote && !self.allowance.take(text.len() as u64, arrived) {
            return Err(StreamError::Flood { place: self.place.clone() });
        }
        let sample = sample(&text).filter(|sample| !is_remote || !is_ours_to_say(&sample.source));
        let sample = sample.ok_or_else(|| self.foreign(&text))?;
        Ok(Some(self.placed(sample, arrived)))
    }

    fn opening(&mut self) -> Result<Opening, StreamError> {
        let mut first = None;
        for _ in 0..MAX_FOREIGN_LINES {
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
        let read = self.input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        let read = read.map_err(|reason| StreamError::Unreadable { place: self.place.clone(), reason })?;
        Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    fn foreign(&self, text: &str) -> StreamError {
        let line = text.chars().filter(|letter| !letter.is_control()).take(SHOWN_CHARS).collect();
        StreamError::Foreign { place: self.place.clone(), line }
    }

    /// Converts the times of a sample to nanoseconds since the beginning of the run.
    fn placed(&mut self, sample: HostSample, arrived: Instant) -> HostSample {
        let delays = self.delays.as_mut();
        let offset_ns = delays.map_or(0, |delays| delays.add(delay(arrived, sample.ended_ns), arrived));
        let origin_ns = i128::from(self.origin.as_nanos());
        // A read that began before the run is placed at the run's beginning, as with our own clock.
        let ours = |ns: u64| u64::try_from(i128::from(ns) + offset_ns - origin_ns).unwrap_or(0);
        HostSample { began_ns: ours(sample.began_ns), ended_ns: ours(sample.ended_ns), ..sample }
    }
}

/// Returns the difference between an arrival by our clock and a time of the other clock, in nanoseconds.
fn delay(arrived: Instant, theirs_ns: u64) -> i128 {
    i128::from(arrived.as_nanos()) - i128::from(theirs_ns)
}

/// Parses the sample of a line, which must have exactly one of the three readings.
fn sample(text: &str) -> Option<HostSample> {
    let line: Line = serde_json::from_str(text).ok()?;
    let reading = match (line.ok, line.absent, line.failed) {
        (Some(counters), false, None) => Reading::Ok(counters),
        (None, true, None) => Reading::Absent,
        (None, false, Some(why)) => Reading::Failed(why),
        _ => return None,
    };
    if line.began_ns > line.ended_ns {
        return None;
    }
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
