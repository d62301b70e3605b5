//! Maps the target of a request to an action.

use std::time::Duration;

use plimsoll_units::parse_duration;

use crate::delay::{MAX_STALLS, Stall};
use crate::payload::{MAX_PAYLOAD_MIB, MAX_RECORDS};

/// The longest `/sleep`: an hour.
const MAX_SLEEP_MS: f64 = 3_600_000.0;
const MAX_WORKERS: u32 = 1_000_000;
/// The longest `/cpu`: ten seconds, during which no other client is served.
const MAX_BURN_US: u64 = 10_000_000;
const MIN_STALL_EVERY: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Index,
    Healthz,
    Stats,
    Payload(u32),
    /// A response after a delay, by one of a number of workers; `None` means no limit.
    Sleep(Duration, Option<u32>),
    Burn(Duration),
    Status(u16),
    Chunked,
    Close,
    Stall(Stall),
    Refuse(Refusal),
}

/// Why a request is refused, in words for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no such path; / lists the paths")]
    NotFound,
    #[error(
        "number must be a whole number from 0 to {MAX_RECORDS}, the most that fits into {MAX_PAYLOAD_MIB} MiB"
    )]
    Number,
    #[error("ms must be a number from 0 to {MAX_SLEEP_MS}, such as 5 or 0.5")]
    SleepTime,
    #[error("workers must be a whole number from 1 to {MAX_WORKERS}; leave it out for no limit")]
    Workers,
    #[error("us must be a whole number from 0 to {MAX_BURN_US}")]
    BurnTime,
    #[error("the status must be a whole number from 200 to 599, such as /status/503")]
    Status,
    #[error(
        "every and for must be durations such as every=5s&for=500ms, every at least 1ms and longer than for"
    )]
    Stall,
    #[error("{MAX_STALLS} different stalls are in use; use one of them or start the server again")]
    Stalls,
    #[error("the request is malformed; HTTP/1.0 and HTTP/1.1 are understood")]
    Malformed,
    #[error("the head of the request is too long; at most 64 KiB and 128 fields are read")]
    LongHead,
    #[error("the transfer coding is not known; chunked is")]
    TransferCoding,
}

impl Refusal {
    /// The status of the response.
    pub fn status(self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::LongHead => 431,
            Self::TransferCoding => 501,
            _ => 400,
        }
    }
}

/// Returns the action that the target of a request asks for.
pub(crate) fn route(target: &str) -> Action {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let action = match own_path(path) {
        "/healthz" => Ok(Action::Healthz),
        "/" => Ok(Action::Index),
        "/stats" => Ok(Action::Stats),
        "/payload" => payload(query),
        "/sleep" => sleep(query),
        "/cpu" => burn(query),
        "/chunked" => Ok(Action::Chunked),
        "/close" => Ok(Action::Close),
        "/stall" => stall(query),
        other => other.strip_prefix("/status/").map_or(Err(Refusal::NotFound), status),
    };
    action.unwrap_or_else(Action::Refuse)
}

/// Returns the path on this server. The client of a proxy sends the whole URL (RFC 9112, section 3.2.2).
fn own_path(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("http://") else { return path };
    rest.find('/').map_or("/", |at| &rest[at..])
}

/// Returns the first value of a name. Unknown names are ignored, because cache-busters are common.
fn value<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Parses a number of digits only; `parse` alone would also accept a sign.
fn whole<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn payload(query: &str) -> Result<Action, Refusal> {
    let number = value(query, "number").and_then(whole).filter(|number| *number <= MAX_RECORDS);
    number.map(Action::Payload).ok_or(Refusal::Number)
}

fn sleep(query: &str) -> Result<Action, Refusal> {
    let ms =
        value(query, "ms").and_then(decimal).filter(|ms| *ms <= MAX_SLEEP_MS).ok_or(Refusal::SleepTime)?;
    let workers = value(query, "workers")
        .map(|text| whole(text).filter(|count| (1..=MAX_WORKERS).contains(count)).ok_or(Refusal::Workers));
    // Rounded to the nanosecond, so that 0.1 ms is 100,000 ns and not 99,999 ns.
    let span = Duration::from_nanos((ms * 1e6).round() as u64);
    Ok(Action::Sleep(span, workers.transpose()?))
}

/// Parses a number of digits and at most one dot; `parse` alone would also accept `inf` and `1e9`.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| text.parse().ok()).flatten()
}

fn burn(query: &str) -> Result<Action, Refusal> {
    let us = value(query, "us").and_then(whole).filter(|us| *us <= MAX_BURN_US);
    us.map(|us| Action::Burn(Duration::from_micros(us))).ok_or(Refusal::BurnTime)
}

fn status(text: &str) -> Result<Action, Refusal> {
    let code = whole(text).filter(|code| (200..600).contains(code));
    code.map(Action::Status).ok_or(Refusal::Status)
}

fn stall(query: &str) -> Result<Action, Refusal> {
    let span = |name| value(query, name).and_then(|text| parse_duration(text).ok()).ok_or(Refusal::Stall);
    let (every, held) = (span("every")?, span("for")?);
    if every < MIN_STALL_EVERY || held >= every || held.is_zero() {
        return Err(Refusal::Stall);
    }
    Ok(Action::Stall(Stall { every, held }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str, action: Action) {
        assert_eq!(route(target), action, "{target}");
    }

    #[test]
    fn each_path_leads_to_its_action() {
        check("/", Action::Index);
        check("/healthz", Action::Healthz);
        check("/healthz?nocache=1", Action::Healthz);
        check("http://127.0.0.1:80/healthz", Action::Healthz);
        check("http://localhost", Action::Index);
        check("/stats", Action::Stats);
        check("/payload?number=2", Action::Payload(2));
        check("/cpu?us=50", Action::Burn(Duration::from_micros(50)));
        check("/status/418", Action::Status(418));
        check("/chunked", Action::Chunked);
        check("/close", Action::Close);
        let stall = Stall { every: Duration::from_secs(5), held: Duration::from_millis(500) };
        check("/stall?every=5s&for=500ms", Action::Stall(stall));
    }

    #[test]
    fn sleeps_take_decimals_and_a_number_of_workers() {
        check("/sleep?ms=5", Action::Sleep(Duration::from_millis(5), None));
        check("/sleep?ms=0.1&workers=16", Action::Sleep(Duration::from_micros(100), Some(16)));
        check("/sleep?workers=1&ms=0", Action::Sleep(Duration::ZERO, Some(1)));
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        for (target, refusal) in [
            ("/nothing", Refusal::NotFound),
            ("", Refusal::NotFound),
            ("*", Refusal::NotFound),
            ("/payload", Refusal::Number),
            ("/payload?number=", Refusal::Number),
            ("/payload?number=-1", Refusal::Number),
            ("/payload?number=+1", Refusal::Number),
            ("/payload?number=1000001", Refusal::Number),
            ("/payload?number=99999999999999999999", Refusal::Number),
            ("/sleep", Refusal::SleepTime),
            ("/sleep?ms=inf", Refusal::SleepTime),
            ("/sleep?ms=1e3", Refusal::SleepTime),
            ("/sleep?ms=3600001", Refusal::SleepTime),
            ("/sleep?ms=1&workers=0", Refusal::Workers),
            ("/sleep?ms=1&workers=x", Refusal::Workers),
            ("/cpu?us=1.5", Refusal::BurnTime),
            ("/cpu?us=10000001", Refusal::BurnTime),
            ("/status/199", Refusal::Status),
            ("/status/600", Refusal::Status),
            ("/status/ok", Refusal::Status),
            ("/stall?every=5s", Refusal::Stall),
            ("/stall?every=0&for=0", Refusal::Stall),
            ("/stall?every=1s&for=1s", Refusal::Stall),
            ("/stall?every=1s&for=0", Refusal::Stall),
        ] {
            check(target, Action::Refuse(refusal));
        }
    }

    #[test]
    fn a_refusal_says_what_is_expected() {
        assert!(Refusal::Number.to_string().contains("0 to "));
        assert!(Refusal::SleepTime.to_string().contains("3600000"));
    }
}
