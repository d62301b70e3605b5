//! Spans that somebody chose, printed as they would write them: `10 s`, not `10.0 s`.

use std::time::Duration;

use plimsoll_units::duration_text;

/// The span in its best unit, without zeros behind the decimal point.
pub(crate) fn text(span: Duration) -> String {
    let text = duration_text(span.as_nanos() as f64);
    match text.split_once(' ') {
        Some((amount, unit)) if amount.contains('.') => {
            format!("{} {unit}", amount.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_spans_have_no_decimals() {
        assert_eq!(text(Duration::from_secs(10)), "10 s");
        assert_eq!(text(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(text(Duration::from_secs(300)), "300 s");
        assert_eq!(text(Duration::ZERO), "0 ns");
    }
}
