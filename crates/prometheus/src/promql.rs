//! The little of PromQL that is read here: the window of a rate, and matchers of labels.

/// Units of PromQL's durations, longest names first (Prometheus, *Querying basics*, float literals and time durations).
const UNITS: [(&str, f64); 7] = [
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
    ("y", 31_536_000.0),
];
/// What makes changes of a counter.
const OF_COUNTERS: [&str; 5] = ["rate(", "increase(", "delta(", "deriv(", "resets("];

/// The first window of a query, `[5m]`, in PromQL and in seconds; `None` without one.
pub(crate) fn window(query: &str) -> Option<(&str, f64)> {
    let (_, after) = query.split_once('[')?;
    let end = after.find([']', ':'])?;
    let text = after[..end].trim();
    Some((text, seconds(text)?))
}

/// A duration such as `1h30m`.
fn seconds(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: f64 = rest[..end].parse().ok()?;
        let (unit, scale) = UNITS.iter().find(|(unit, _)| rest[end..].starts_with(unit))?;
        sum += number * scale;
        rest = &rest[end + unit.len()..];
    }
    (sum > 0.0).then_some(sum)
}

/// Matchers as they are typed, with or without braces.
pub(crate) fn matchers(selector: &str) -> &str {
    selector.trim().trim_start_matches('{').trim_end_matches('}').trim().trim_end_matches(',')
}

/// True if the query is a counter's value and not its change: it rises nearly always, falls only when it begins anew, and no
/// function of counters is in it.
pub(crate) fn is_raw_counter(query: &str, values: &[Option<f64>]) -> bool {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let falls = known.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let rises = known.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let is_of_changes = OF_COUNTERS.iter().any(|function| query.contains(function));
    !is_of_changes && known.len() >= 20 && 20 * falls <= known.len() && 2 * rises > known.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_of_a_rate_is_read() {
        assert_eq!(window("sum(rate(http_requests_total{a=\"b\"}[1m]))"), Some(("1m", 60.0)));
        assert_eq!(window("rate(a[1h30m])"), Some(("1h30m", 5_400.0)));
        assert_eq!(window("max_over_time(a[500ms:1s])"), Some(("500ms", 0.5)));
        assert_eq!(window("job:requests:rate5m"), None);
        assert_eq!(window("a[b]"), None);
    }

    #[test]
    fn a_counter_is_distinguished_from_its_rate() {
        let rising: Vec<Option<f64>> =
            (0..40).map(|n| Some(f64::from(if n < 30 { n } else { n - 30 }))).collect();
        assert!(is_raw_counter("sum(http_requests_total)", &rising));
        assert!(!is_raw_counter("sum(rate(http_requests_total[1m]))", &rising));
        let wave: Vec<Option<f64>> = (0..40).map(|n| Some(f64::from(n % 7))).collect();
        assert!(!is_raw_counter("requests", &wave));
    }
}
