//! Whole numbers with a unit, as wrk reads them: `2k`, `30s`, `1M`, `2h`.

/// Units of counts: powers of 1000.
const METRIC: (u64, &[&str]) = (1000, &["k", "m", "g", "t", "p"]);

/// Units of time: powers of 60 seconds. Seconds have the unit `s` or none.
const TIME: (u64, &[&str]) = (60, &["m", "h"]);

/// Parses a count; `None` if it is not one, or does not fit into 64 bits.
pub(super) fn parse_count(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    if unit.is_empty() { Some(number) } else { scale(number, &unit, METRIC) }
}

/// Parses a time and returns its seconds; `None` if it is not a time.
pub(super) fn parse_seconds(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    if unit.is_empty() || unit == "s" { Some(number) } else { scale(number, &unit, TIME) }
}

/// Splits a text into its number and the unit after it, in lower case. Like wrk this reads two characters after the
/// number, and only up to the next space: `5 s now` is five seconds and `5seconds` is not a time.
fn split(text: &str) -> Option<(u64, String)> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    let (number, behind) = unsigned.split_at(digits);
    let word = behind.split_whitespace().next().unwrap_or("");
    let unit = word.chars().take(2).collect::<String>().to_ascii_lowercase();
    Some((number.parse().ok()?, unit))
}

fn scale(number: u64, unit: &str, (factor, units): (u64, &[&str])) -> Option<u64> {
    let power = units.iter().position(|known| *known == unit)? as u32 + 1;
    number.checked_mul(factor.checked_pow(power)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_scale_whole_numbers_whatever_their_case() {
        for (text, count) in [("12", 12), ("5k", 5000), ("2M", 2_000_000), ("1g", 1_000_000_000), (" +7", 7)]
        {
            assert_eq!(parse_count(text), Some(count), "{text}");
        }
        for (text, seconds) in [("30", 30), ("30s", 30), ("2M", 120), ("1h", 3600), ("5 S later", 5)] {
            assert_eq!(parse_seconds(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn fractions_other_units_and_overflows_are_refused() {
        for text in ["", "k", "1.5", "5kk", "-1", "1h", "99999999999999999999", "99999999999999999k"] {
            assert_eq!(parse_count(text), None, "{text}");
        }
        for text in ["1.5s", "500ms", "1k", "s", "2 hours"] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
    }
}
