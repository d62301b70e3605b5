//! What the exchanges with all components have in common: their deadline, and the values in their text.

use std::time::Duration;

use plimsoll_record::{CounterSet, Metric};

/// How long a component may take to answer, connecting included. A server under load answers late, and a sample that is half
/// a second old describes another moment than the rest.
pub(super) const DEADLINE: Duration = Duration::from_millis(500);

/// Takes the metrics of a table, each with the component's name for it, out of an answer; what the answer does not have is
/// left out.
pub(super) fn taken<'a>(table: &[(&str, Metric)], value: impl Fn(&str) -> Option<&'a str>) -> CounterSet {
    let number = |name: &str| -> Option<u64> { value(name)?.trim().parse().ok() };
    table.iter().map(|(name, metric)| (*metric, number(name))).collect()
}

/// Seconds with a fraction, as decimal text, in whole microseconds.
pub(super) fn seconds_to_us(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1e6).round() as u64)
}
