//! The offered rate of an open loop over time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use plimsoll_units::{parse_duration, parse_rate};
use serde::{Deserialize, Serialize};

/// The most stages of one profile; a `step(…)` of many small steps reaches it first.
const MAX_STAGES: usize = 10_000;
/// The highest rate one plan may ask for, requests per second.
pub(crate) const MAX_RATE: f64 = 1e8;

/// A span in which the offered rate changes linearly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    pub from_per_sec: f64,
    pub to_per_sec: f64,
    pub duration: Duration,
}

impl Stage {
    /// The rates at both ends, in requests per second. One is the stage's highest rate, the other its lowest.
    pub(crate) fn rates(&self) -> [f64; 2] {
        [self.from_per_sec, self.to_per_sec]
    }

    /// Requests that fall due within the stage: the area under its line.
    pub fn requests(&self) -> f64 {
        (self.from_per_sec + self.to_per_sec) / 2.0 * self.duration.as_secs_f64()
    }
}

/// The offered rate of an open loop over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateProfile {
    /// The same rate for as long as the load is held, requests per second.
    Constant(f64),
    /// One stage after another; the load is held as long as they last.
    Stages(Vec<Stage>),
}

/// A profile that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    #[error(
        "`{0}` is not a rate; write 5k, or stages such as ramp(100,5k,30s) const(5k,1m) step(1k,5k,500,10s)"
    )]
    Word(String),
    /// A rate among stages has no time of its own.
    #[error("`{0}` stands among stages and does not say how long; write const({0},10s)")]
    Unlimited(String),
    /// The steps do not lead from the first rate to the last.
    #[error("`{0}` has no end: each step must be above 0; write it like step(1k,5k,500,10s)")]
    Endless(String),
    #[error("`{0}` lasts no time; each stage must")]
    Instant(String),
    #[error("`{0}` makes more than {MAX_STAGES} stages; take larger steps, or a ramp(from,to,time)")]
    Many(String),
}

impl RateProfile {
    /// The stages; empty for a constant rate.
    pub fn stages(&self) -> &[Stage] {
        match self {
            Self::Constant(_) => &[],
            Self::Stages(stages) => stages,
        }
    }

    /// True if the rate changes with time.
    pub fn varies(&self) -> bool {
        let mut rates = self.stages().iter().flat_map(Stage::rates);
        rates.next().is_some_and(|first| rates.any(|rate| rate != first))
    }

    /// The total time of the stages; `None` for a constant rate.
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Self::Constant(_) => None,
            Self::Stages(stages) => Some(stages.iter().map(|stage| stage.duration).sum()),
        }
    }

    /// The mean rate over the stages, requests per second.
    pub fn mean_per_sec(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Stages(stages) => {
                let requests: f64 = stages.iter().map(Stage::requests).sum();
                requests / stages.iter().map(|stage| stage.duration.as_secs_f64()).sum::<f64>()
            }
        }
    }

    /// The highest rate, requests per second.
    pub fn peak_per_sec(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Stages(stages) => stages.iter().flat_map(Stage::rates).fold(0.0, f64::max),
        }
    }

    /// The offered rate at this time since the load began, requests per second; 0 after the last stage.
    pub fn rate_at(&self, mut since: Duration) -> f64 {
        let Self::Stages(stages) = self else { return self.mean_per_sec() };
        for stage in stages {
            if since < stage.duration {
                let share = since.as_secs_f64() / stage.duration.as_secs_f64();
                return stage.from_per_sec + (stage.to_per_sec - stage.from_per_sec) * share;
            }
            since -= stage.duration;
        }
        0.0
    }
}

/// Splits a text at spaces and commas outside parentheses.
fn words(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let outside = |c: char| {
        depth = match c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    text.split(outside).filter(|word| !word.is_empty()).collect()
}

/// Parses the stages of one word, such as `ramp(100,5k,30s)`.
fn stages_of(word: &str) -> Result<Vec<Stage>, ProfileError> {
    let wrong = || ProfileError::Word(word.to_owned());
    let (name, rest) = word.split_once('(').ok_or_else(wrong)?;
    let inner = rest.strip_suffix(')').ok_or_else(wrong)?;
    let mut parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let duration = parts.pop().and_then(|text| parse_duration(text).ok()).ok_or_else(wrong)?;
    let rate = |text: &str| if text == "0" { Some(0.0) } else { parse_rate(text).ok() };
    let rates = parts.into_iter().map(rate).collect::<Option<Vec<f64>>>().ok_or_else(wrong)?;
    if duration.is_zero() {
        return Err(ProfileError::Instant(word.to_owned()));
    }
    let stage = |from_per_sec, to_per_sec| Stage { from_per_sec, to_per_sec, duration };
    match (name.trim(), rates.as_slice()) {
        ("const", [rate]) => Ok(vec![stage(*rate, *rate)]),
        ("ramp" | "line", [from, to]) => Ok(vec![stage(*from, *to)]),
        ("step", [from, to, by]) => {
            Ok(levels(word, [*from, *to, *by])?.into_iter().map(|rate| stage(rate, rate)).collect())
        }
        _ => Err(wrong()),
    }
}

/// The rates of a `step(from,to,by,…)`: from the first towards the last, never beyond it, up or down.
fn levels(word: &str, [from, to, by]: [f64; 3]) -> Result<Vec<f64>, ProfileError> {
    if by <= 0.0 {
        return Err(ProfileError::Endless(word.to_owned()));
    }
    // The tolerance makes up for rounding, so that 0.1 to 0.3 by 0.1 are three steps.
    let count = ((to - from).abs() / by + 1e-9).floor();
    if count >= MAX_STAGES as f64 {
        return Err(ProfileError::Many(word.to_owned()));
    }
    let by = if to < from { -by } else { by };
    Ok((0..=count as u32).map(|index| from + f64::from(index) * by).collect())
}

impl FromStr for RateProfile {
    type Err = ProfileError;

    /// Reads one rate, or stages one after another, separated by spaces or commas: `const(RATE,TIME)`,
    /// `ramp(FROM,TO,TIME)` (also called `line`) and `step(FROM,TO,BY,TIME)`, with a time for each step.
    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let words = words(text);
        if let [word] = words.as_slice()
            && !word.contains('(')
        {
            return parse_rate(word).map(Self::Constant).map_err(|_| ProfileError::Word((*word).to_owned()));
        }
        let mut stages = Vec::new();
        for word in words {
            if parse_rate(word).is_ok() {
                return Err(ProfileError::Unlimited(word.to_owned()));
            }
            stages.extend(stages_of(word)?);
            // Checked after each word, so that a long text takes little memory.
            if stages.len() > MAX_STAGES {
                return Err(ProfileError::Many(word.to_owned()));
            }
        }
        if stages.is_empty() {
            Err(ProfileError::Word(text.trim().to_owned()))
        } else {
            Ok(Self::Stages(stages))
        }
    }
}

impl fmt::Display for RateProfile {
    /// The profile as it could be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = |stage: &Stage| {
            let Stage { from_per_sec: from, to_per_sec: to, duration } = stage;
            let seconds = duration.as_secs_f64();
            if from == to {
                format!("const({from},{seconds}s)")
            } else {
                format!("ramp({from},{to},{seconds}s)")
            }
        };
        match self {
            Self::Constant(rate) => write!(f, "{rate}"),
            Self::Stages(stages) => f.write_str(&stages.iter().map(stage).collect::<Vec<_>>().join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> RateProfile {
        text.parse().unwrap()
    }

    fn stage(from_per_sec: f64, to_per_sec: f64, seconds: u64) -> Stage {
        Stage { from_per_sec, to_per_sec, duration: Duration::from_secs(seconds) }
    }

    #[test]
    fn one_rate_stays_and_stages_follow_each_other() {
        assert_eq!(read("5k"), RateProfile::Constant(5000.0));
        assert_eq!(read("120/m"), RateProfile::Constant(2.0));
        let ramp = RateProfile::Stages(vec![stage(100.0, 5000.0, 30)]);
        assert_eq!(read("ramp(100,5k,30s)"), ramp);
        assert_eq!(read(" line( 100, 5k ,30s ) "), ramp);
        let both = RateProfile::Stages(vec![stage(0.0, 1000.0, 10), stage(1000.0, 1000.0, 60)]);
        for text in
            ["ramp(0,1k,10s) const(1k,1m)", "ramp(0,1k,10s),const(1k,1m)", "ramp(0,1k,10s), const(1k,60)"]
        {
            assert_eq!(read(text), both, "{text}");
        }
    }

    #[test]
    fn steps_go_up_or_down_and_never_beyond_the_last_rate() {
        let rates = |text| read(text).stages().iter().map(|stage| stage.from_per_sec).collect::<Vec<_>>();
        assert_eq!(rates("step(100,300,100,5s)"), [100.0, 200.0, 300.0]);
        assert_eq!(rates("step(100,350,100,5s)"), [100.0, 200.0, 300.0]);
        assert_eq!(rates("step(300,100,100,5s)"), [300.0, 200.0, 100.0]);
        assert_eq!(rates("step(0.1,0.3,0.1,5s)").len(), 3);
        assert_eq!(read("step(100,300,100,5s)").duration(), Some(Duration::from_secs(15)));
    }

    #[test]
    fn what_is_no_profile_says_what_would_be() {
        let refused = |text: &str, what: &str| {
            let error = text.parse::<RateProfile>().unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        };
        for text in
            ["", "fast", "ramp(1,2)", "ramp(1,2,3s", "ramp(1,x,3s)", "wave(1,2,3s)", "0", "const(,1s)"]
        {
            refused(text, "ramp(100,5k,30s)");
        }
        refused("ramp(1,2,3s) 500", "const(500,10s)");
        refused("const(1k,0s)", "lasts no time");
        refused("step(1,5,0,1s)", "above 0");
        refused("step(1,1M,1,1s)", "larger steps");
        let many = "step(1,9999,1,1s) ".repeat(1000).parse::<RateProfile>().unwrap_err();
        assert_eq!(many, ProfileError::Many("step(1,9999,1,1s)".to_owned()), "the rest is not read");
    }

    #[test]
    fn a_profile_knows_its_mean_its_peak_and_its_rate_at_any_time() {
        let profile = read("ramp(0,100,10s) const(40,5s)");
        assert!((profile.mean_per_sec() - 700.0 / 15.0).abs() < 1e-9);
        assert_eq!(profile.peak_per_sec(), 100.0);
        let at = |ms| profile.rate_at(Duration::from_millis(ms));
        assert_eq!([at(0), at(5000), at(10_000), at(14_999), at(15_000)], [0.0, 50.0, 40.0, 40.0, 0.0]);
        assert!(profile.varies() && !read("const(5,1s) const(5,2s)").varies() && !read("5").varies());
    }

    #[test]
    fn a_profile_reads_again_what_it_prints() {
        for text in ["2000", "ramp(0,1000,10s) const(0.5,1.5s) ramp(7,3,1s)"] {
            assert_eq!(read(text).to_string(), text);
        }
    }
}
