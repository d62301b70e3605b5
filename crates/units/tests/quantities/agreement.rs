//! What holds for every text read as an amount and for every figure printed as one: shared by the tests and the fuzz target.

use std::borrow::Cow;
use std::fmt::Display;
use std::time::Duration;

use plimsoll_units::{
    ParseQuantityError, bytes_text, count_text, duration_text, escape_control, grouped, parse_bandwidth,
    parse_bytes, parse_count, parse_duration, parse_rate, percent_text, printable, share_text, significant,
};

/// What three significant digits leave of a figure.
const PRINTED_PRECISION: f64 = 0.006;

/// Reads a text as every kind of amount, prints its first eight bytes as a figure, and shows it on a terminal.
pub(crate) fn check(input: &[u8]) {
    if let Some(eight) = input.first_chunk() {
        check_figure(f64::from_le_bytes(*eight));
        assert_eq!(
            grouped(u64::from_le_bytes(*eight)).replace(',', ""),
            u64::from_le_bytes(*eight).to_string()
        );
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    check_shown(text);
    check_duration(text);
    check_rate(text);
    check_whole(text, parse_count, "");
    check_whole(text, parse_bandwidth, "bit");
    check_whole(text, parse_bytes, "B");
}

/// An error names the text and says what would be right.
fn check_error(text: &str, error: &impl Display) {
    let error = error.to_string();
    let rest = error.strip_prefix('`').and_then(|rest| rest.strip_prefix(text));
    assert!(rest.is_some_and(|rest| rest.starts_with("` is not a") && rest.contains(" such as ")), "{error}");
}

fn check_duration(text: &str) {
    let read = match parse_duration(text) {
        Ok(read) => read,
        Err(error) => return check_error(text, &error),
    };
    assert!(read <= Duration::from_hours(366 * 24), "{text}: {read:?}");
    assert_eq!(parse_duration(&format!(" {text} ")), Ok(read), "{text}");
    for again in [format!("{}ns", read.as_nanos()), format!("{}s", read.as_secs_f64())] {
        let again = parse_duration(&again).expect("what a duration prints as");
        // A number of 64 bits holds the nanoseconds of a hundred days.
        let precision = Duration::from_nanos(1 + read.as_secs() / 4_000_000);
        assert!(again.abs_diff(read) <= precision, "{text}: {read:?}, then {again:?}");
    }
}

fn check_rate(text: &str) {
    match parse_rate(text) {
        Ok(rate) => {
            assert!(rate.is_finite() && rate > 0.0, "{text}: {rate}");
            assert_eq!(parse_rate(&rate.to_string()), Ok(rate), "{text}");
        }
        Err(error) => check_error(text, &error),
    }
}

/// An amount in units of one reads again as itself.
fn check_whole(text: &str, parse: fn(&str) -> Result<u64, ParseQuantityError>, unit: &str) {
    match parse(text) {
        Ok(amount) => {
            assert!(amount <= 1_000_000_000_000_000, "{text}: {amount}");
            assert_eq!(parse(&format!("{amount}{unit}")), Ok(amount), "{text}");
        }
        Err(error) => check_error(text, &error),
    }
}

/// What is no number is printed as a question mark, and a duration reads again as what it was.
fn check_figure(figure: f64) {
    let texts = [
        significant(figure),
        count_text(figure),
        duration_text(figure),
        bytes_text(figure),
        percent_text(figure),
        share_text(figure),
    ];
    for text in &texts {
        assert!(!text.contains("NaN") && !text.contains("inf"), "{figure}: {texts:?}");
    }
    if (1.0..1e15).contains(&figure) {
        let read = parse_duration(&texts[2]).expect("what a duration prints as");
        let off = (read.as_secs_f64() * 1e9 - figure).abs();
        assert!(off <= 1.0 + PRINTED_PRECISION * figure, "{figure} ns: {}", texts[2]);
    }
}

/// Nothing that steers a terminal is left, and what is safe is left as it is.
fn check_shown(text: &str) {
    let escaped = escape_control(text);
    assert!(!escaped.contains(char::is_control), "{escaped:?}");
    assert!(matches!(printable(&escaped, false), Cow::Borrowed(_)), "{escaped:?}");
    assert!(escaped.len() <= 10 * text.len());
    for styles in [false, true] {
        let shown = printable(text, styles);
        assert_eq!(printable(&shown, styles), shown, "{text:?}");
        assert!(styles || !shown.contains('\u{1b}'), "{shown:?}");
    }
}
