//! Parses amounts as people type them: `10k`, `1.5s`, `500ms`, `2k/s`.

use std::time::Duration;

/// The error for a quantity that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseQuantityError {
    text: String,
    expected: &'static str,
}

fn parsed<T>(text: &str, value: Option<T>, expected: &'static str) -> Result<T, ParseQuantityError> {
    value.ok_or_else(|| ParseQuantityError { text: text.to_owned(), expected })
}

/// Splits a text into its number and its unit; the unit of a plain number is empty.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

fn number(digits: &str) -> Option<f64> {
    // `parse::<f64>` accepts more than people mean here (inf, 1e9), so only digits and one dot reach it.
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then_some(value)
}

fn duration_unit_sec(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    })
}

fn si_factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    })
}

/// Parses a number with a unit, and multiplies it by the size of the unit.
fn scaled(text: &str, unit_size: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let (digits, unit) = split_unit(text.trim());
    Some(number(digits)? * unit_size(unit)?)
}

/// Rounds to a whole amount; `None` if it is below 1 or too large.
fn whole(value: f64) -> Option<u64> {
    (1.0..=1e15).contains(&value).then(|| value.round() as u64)
}

/// Parses a duration: a number with `ns`, `us`, `ms`, `s`, `m`, `h` or `d`, several of them joined (`1m30s`), or a plain number of seconds.
///
/// # Errors
/// When the text is anything else, or longer than a year.
pub fn parse_duration(text: &str) -> Result<Duration, ParseQuantityError> {
    parsed(text, duration(text.trim()), "a duration such as 500ms, 1.5s, 2m or 1h")
}

fn duration(text: &str) -> Option<Duration> {
    const YEAR_SEC: f64 = 366.0 * 86_400.0;
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (digits, tail) = split_unit(rest);
        let unit_len = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let unit = tail[..unit_len].trim();
        // With several parts, each must have a unit: the 30 of `1h30` could be minutes or seconds.
        if unit.is_empty() && digits.len() < text.len() {
            return None;
        }
        seconds += number(digits)? * duration_unit_sec(unit)?;
        rest = &tail[unit_len..];
    }
    (!text.is_empty() && seconds <= YEAR_SEC).then(|| Duration::from_secs_f64(seconds))
}

/// Parses a whole count with an optional SI suffix: `200`, `1k`, `2.5M`.
///
/// # Errors
/// When the text is not a number, or its value is not whole: `1.5` is an error, `0.3k` is 300.
pub fn parse_count(text: &str) -> Result<u64, ParseQuantityError> {
    let is_whole = |value: &f64| (value - value.round()).abs() <= 1e-6 && value.round() <= 1e15;
    let count = scaled(text, si_factor).filter(is_whole).map(|value| value.round() as u64);
    parsed(text, count, "a count such as 200, 1k or 2.5M")
}

/// Parses a rate to events per second: `2k`, `2k/s`, `0.5`, `120/m`, `3600/h`.
///
/// # Errors
/// When the text is anything else, or the rate is zero.
pub fn parse_rate(text: &str) -> Result<f64, ParseQuantityError> {
    let (amount, per) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = duration_unit_sec(per.trim()).filter(|_| !per.trim().is_empty());
    let rate = scaled(amount, si_factor).zip(seconds).map(|(amount, seconds)| amount / seconds);
    let rate = rate.filter(|rate| *rate > 0.0 && rate.is_finite());
    parsed(text, rate, "a rate such as 500, 2k or 120/m")
}

/// Parses a ratio: `0.9995`, or `99.95%`.
///
/// # Errors
/// When the text is anything else, or the ratio is not from 0 to 1. A plain `99.95` was probably meant as a percentage.
pub fn parse_ratio(text: &str) -> Result<f64, ParseQuantityError> {
    let text = text.trim();
    let (digits, whole) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits.trim(), 100.0));
    let ratio = number(digits).map(|value| value / whole).filter(|ratio| (0.0..=1.0).contains(ratio));
    parsed(text, ratio, "a ratio such as 0.9995 or 99.95%")
}

/// Parses a bandwidth to bits per second: a number with `bit`, `kbit`, `Mbit` or `Gbit`, with or without `/s`.
///
/// # Errors
/// When the text is anything else, or less than one bit per second.
pub fn parse_bandwidth(text: &str) -> Result<u64, ParseQuantityError> {
    let bits = |unit: &str| si_factor(unit.strip_suffix("/s").unwrap_or(unit).strip_suffix("bit")?);
    let bandwidth = scaled(text, bits).and_then(whole);
    parsed(text, bandwidth, "a bandwidth such as 200Mbit, 2.5Gbit or 64kbit/s")
}

/// Parses an amount of bytes: a number with `B`, `kB`, `MB` or `GB` (powers of 1000), or `KiB`, `MiB` or `GiB` (powers of 1024).
///
/// # Errors
/// When the text is anything else, or less than one byte.
pub fn parse_bytes(text: &str) -> Result<u64, ParseQuantityError> {
    let bytes = |unit: &str| match unit {
        "KiB" => Some(1024.0),
        "MiB" => Some(1024.0 * 1024.0),
        "GiB" => Some(1024.0 * 1024.0 * 1024.0),
        _ => si_factor(unit.strip_suffix('B')?),
    };
    parsed(text, scaled(text, bytes).and_then(whole), "an amount of memory such as 256MB, 1.5GB or 512MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_number_up_to_one_or_per_cent() {
        assert_eq!(parse_ratio("0.9995"), Ok(0.9995));
        assert!((parse_ratio("99.95%").unwrap() - 0.9995).abs() < 1e-12);
        assert_eq!(parse_ratio("5 %"), Ok(0.05));
        for text in ["99.95", "101%", "-1%", "many", "", "%"] {
            assert!(parse_ratio(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_take_units_fractions_and_joined_parts() {
        let check = |text, ms| assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        check("500ms", 500);
        check("1.5s", 1500);
        check("2m", 120_000);
        check("1m30s", 90_000);
        check("1h", 3_600_000);
        check("10", 10_000);
        check(" 7 s", 7_000);
        assert_eq!(parse_duration("250us"), Ok(Duration::from_micros(250)));
    }

    #[test]
    fn what_is_not_a_duration_says_what_would_be() {
        for text in
            ["", "s", "1x", "-1s", "1..5s", "inf", "1e3s", "9999999h", "1s,", "1h30", "1s200", "1 30s"]
        {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.contains("500ms"), "{text}: {error}");
        }
    }

    #[test]
    fn counts_take_si_suffixes_and_must_come_out_whole() {
        assert_eq!(parse_count("200"), Ok(200));
        assert_eq!(parse_count("1k"), Ok(1000));
        assert_eq!(parse_count("2.5M"), Ok(2_500_000));
        assert_eq!(parse_count("0.3k"), Ok(300));
        for text in ["1.5", "", "k", "-3", "1kk", "99999999999999999"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_per_second_unless_another_unit_follows() {
        assert_eq!(parse_rate("2k"), Ok(2000.0));
        assert_eq!(parse_rate("2k/s"), Ok(2000.0));
        assert_eq!(parse_rate("120/m"), Ok(2.0));
        assert_eq!(parse_rate("0.5"), Ok(0.5));
        for text in ["0", "x", "5/", "5/day", "-1"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bandwidths_are_bits_per_second_and_name_their_unit() {
        assert_eq!(parse_bandwidth("200Mbit"), Ok(200_000_000));
        assert_eq!(parse_bandwidth("2.5 Gbit/s"), Ok(2_500_000_000));
        assert_eq!(parse_bandwidth("64kbit"), Ok(64_000));
        for text in ["200", "200MB", "0Mbit", "Mbit", "-1Mbit", ""] {
            assert!(parse_bandwidth(text).unwrap_err().to_string().contains("200Mbit"), "{text}");
        }
    }

    #[test]
    fn bytes_have_decimal_and_binary_units() {
        assert_eq!(parse_bytes("256MB"), Ok(256_000_000));
        assert_eq!(parse_bytes("1.5GB"), Ok(1_500_000_000));
        assert_eq!(parse_bytes("512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("100 B"), Ok(100));
        for text in ["256", "256Mbit", "0B", "MB", ""] {
            assert!(parse_bytes(text).unwrap_err().to_string().contains("256MB"), "{text}");
        }
    }
}
