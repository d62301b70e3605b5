//! What holds for every text read as a value of a plan (a rate over time, a probe, an address …): shared by the tests and the
//! fuzz target.

use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::time::Duration;

use plimsoll_plan::{
    HostPort, IpRange, Limit, NamedProbe, Probe, Profiler, RateProfile, ResolveEntry, Target, is_public,
};

/// The longest profile whose times a number of 64 bits holds to the nanosecond.
const EXACT: Duration = Duration::from_hours(24 * 100);
/// The highest rate of a plan, requests per second.
const MAX_RATE: f64 = 1e8;

/// Asserts that a text is refused with a reason, or makes a value that is printed as it could be typed.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    read::<HostPort>(text);
    read::<ResolveEntry>(text);
    read::<Profiler>(text);
    if let Some(range) = read::<IpRange>(text) {
        check_range(range);
    }
    if let Some(profile) = parsed::<RateProfile>(text) {
        check_profile(&profile);
    }
    check_probe(text);
    if let Some(limit) = Limit::from_name(text) {
        assert_eq!(limit.name(), text);
    }
    check_target(text);
}

/// The value of a text, if it is one. A refusal quotes what is wrong, but no password.
fn parsed<T: FromStr<Err: Display>>(text: &str) -> Option<T> {
    let error = match text.parse() {
        Ok(value) => return Some(value),
        Err(error) => T::Err::to_string(&error),
    };
    let quoted = error.split('`').nth(1);
    assert!(quoted.is_some_and(|part| text.contains(part) || part.contains('…')), "{text:?}: {error}");
    assert!(error.len() < 1000 + 3 * text.len(), "{error}");
    None
}

/// As [`parsed`]; what a value prints is read as the same value.
fn read<T: FromStr<Err: Display + Debug> + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value = parsed::<T>(text)?;
    let again: T = value.to_string().parse().expect("what a value prints");
    assert_eq!(again, value, "{text:?}");
    Some(value)
}

fn check_range(range: IpRange) {
    assert_eq!(range.nth(0), Some(range.first()));
    let count = range.count();
    if count < u64::MAX {
        assert_eq!((range.nth(count - 1), range.nth(count)), (Some(range.last()), None));
    }
    is_public(range.first());
}

fn check_profile(profile: &RateProfile) {
    for stage in profile.stages() {
        let rates = [stage.from_per_sec, stage.to_per_sec];
        assert!(rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{stage:?}");
        assert!(!stage.duration.is_zero(), "{stage:?}");
        assert!(profile.peak_per_sec() >= stage.from_per_sec.max(stage.to_per_sec));
    }
    if profile.peak_per_sec() <= MAX_RATE {
        assert!(profile.mean_per_sec().is_finite(), "{profile}");
        let at_begin = profile.rate_at(Duration::ZERO);
        assert!((0.0..=MAX_RATE).contains(&at_begin), "{profile}: {at_begin}");
    }
    if profile.stages().len() < 50 && profile.stages().iter().all(|stage| stage.duration < EXACT) {
        assert_eq!(profile.to_string().parse().as_ref(), Ok(profile));
    }
}

/// The same but for its password, which is not printed.
fn without_password(probe: &Probe) -> Probe {
    match probe.clone() {
        Probe::Redis { address, .. } => Probe::Redis { password: None, address },
        Probe::Mariadb { user, address, .. } => Probe::Mariadb { user, password: None, address },
        other => other,
    }
}

fn check_probe(text: &str) {
    if let Some(probe) = parsed::<Probe>(text) {
        let shown = probe.to_string();
        let again: Probe = shown.parse().expect("what a probe prints");
        assert_eq!(again, without_password(&probe), "{text:?}");
        assert_eq!(probe.settled(|_| None), probe);
    }
    if let Some(named) = parsed::<NamedProbe>(text) {
        assert!(!named.host.is_empty() && !named.host.contains([':', '\n']), "{named:?}");
    }
}

fn check_target(text: &str) {
    let Ok(target) = Target::parse(text) else { return };
    assert!(!target.host.is_empty() && target.port > 0 && target.path.starts_with('/'), "{target:?}");
    let scheme = if target.is_secure() { "https" } else { "http" };
    let url = format!("{scheme}://{}{}", target.authority(), target.path);
    let again = Target::parse(&url).expect("the parts of a URL");
    assert_eq!((&again.host, again.port, &again.path), (&target.host, target.port, &target.path), "{text:?}");
    if let Ok(encoded) = target.encode() {
        let line = encoded.split(|byte| *byte == b'\n').next().expect("a first line");
        assert_eq!(line, format!("GET {} HTTP/1.1\r", target.path).as_bytes(), "{text:?}");
        assert_eq!(line.split(|byte| byte.is_ascii_whitespace()).count(), 4, "{text:?}");
        assert!(
            encoded.ends_with(b"\r\n\r\n") && !encoded[..encoded.len() - 1].ends_with(b"\n\n"),
            "{text:?}"
        );
    }
}
