//! Detects counters given where a rate or a gauge is expected: their values only rise, until they are reset.

/// Suffixes of counter names: of counters themselves, and of the series of a histogram or a summary
/// (Prometheus, *Metric and label naming*; OpenMetrics 1.0, suffixes).
const ENDINGS: [&str; 4] = ["_total", "_count", "_sum", "_bucket"];
/// A counter is reset at most once in this many values.
const VALUES_PER_RESET: usize = 20;

/// Returns the first word with the suffix of a counter, as in `sum(http_requests_total)`.
pub fn counter_name(text: &str) -> Option<&str> {
    let is_between = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | ':');
    let is_counter =
        |word: &&str| ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending));
    text.split(is_between).find(is_counter)
}

/// True if values rise in more than this share of the steps, and fall at most once in twenty values; with fewer values, at most once.
pub fn only_rises(values: &[Option<f64>], rising_share: f64) -> bool {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let steps = known.len().saturating_sub(1);
    let falls = known.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let rises = known.windows(2).filter(|pair| pair[1] > pair[0]).count();
    falls <= (known.len() / VALUES_PER_RESET).max(1) && rises as f64 > rising_share * steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(value: impl Fn(u32) -> u32) -> Vec<Option<f64>> {
        (0..40).map(|at| (at % 9 != 4).then(|| f64::from(value(at)))).collect()
    }

    #[test]
    fn a_counter_may_begin_anew_and_rest_at_times() {
        assert!(only_rises(&series(|at| if at < 30 { at } else { at - 30 }), 0.5));
        let quiet = series(|at| at / 8);
        assert!(only_rises(&quiet, 0.0) && !only_rises(&quiet, 0.25));
    }

    #[test]
    fn what_falls_again_and_again_or_never_moves_is_no_counter() {
        assert!(!only_rises(&series(|at| at % 7), 0.0));
        assert!(!only_rises(&series(|_| 3), 0.0));
        assert!(!only_rises(&[], 0.0) && !only_rises(&[Some(1.0)], 0.0));
    }

    #[test]
    fn names_of_counters_are_recognised_by_their_endings() {
        assert_eq!(counter_name("sum(http_requests_total{job=\"a\"})"), Some("http_requests_total"));
        assert_eq!(counter_name("latency_seconds_bucket"), Some("latency_seconds_bucket"));
        assert_eq!(counter_name("requests/s"), None);
        assert_eq!(counter_name("total count node_memory_MemTotal_bytes _total"), None);
    }
}
