//! Numbers with their units, in cells of fixed width.

/// The share of a larger unit from which it is used: 860 µs is printed as `0.86ms`.
const UNIT_SHARE: f64 = 0.85;

/// Formats a number as C does. NaN, which here only results from 0/0, has a sign there.
pub(super) fn fixed(number: f64, decimals: usize) -> String {
    if number.is_nan() { "-nan".to_owned() } else { format!("{number:.decimals$}") }
}

/// Formats a number in the unit that reads best; each of `units` is `factor` times the one before it.
fn scaled(mut number: f64, factor: f64, units: &[&str], decimals: usize) -> String {
    let mut index = 0;
    while index + 1 < units.len() && number >= factor * UNIT_SHARE {
        number /= factor;
        index += 1;
    }
    fixed(number, decimals) + units[index]
}

/// Formats a time given in microseconds as µs, ms, s or m. wrk has no larger unit.
pub(super) fn time_us(microseconds: f64) -> String {
    if microseconds >= 1e6 {
        scaled(microseconds / 1e6, 60.0, &["s", "m"], 2)
    } else {
        scaled(microseconds, 1000.0, &["us", "ms"], 2)
    }
}

/// Formats whole seconds or minutes: `30s`, `2m`.
pub(super) fn time_s(seconds: u64) -> String {
    scaled(seconds as f64, 60.0, &["s", "m"], 0)
}

/// Formats a count in thousands: `56.20k`.
pub(super) fn count(number: f64) -> String {
    scaled(number, 1000.0, &["", "k", "M", "G", "T"], 2)
}

/// Formats bytes in multiples of 1024, to be followed by the letter B: `17.76G`.
pub(super) fn bytes(number: f64) -> String {
    scaled(number, 1024.0, &["", "K", "M", "G", "T"], 2)
}

/// Formats a cell of this width: units of two letters, of one and of none end in columns of their own. Text that is too
/// long loses its end.
pub(super) fn cell(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let padding = 2 - letters;
    let width = width - padding;
    format!("{text:>width$.width$}{:padding$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_hundredths_of_the_next() {
        for (microseconds, text) in [
            (0.0, "0.00us"),
            (849.99, "849.99us"),
            (850.0, "0.85ms"),
            (849_999.0, "850.00ms"),
            (999_999.0, "1000.00ms"),
            (1e6, "1.00s"),
            (50.9e6, "50.90s"),
            (51e6, "0.85m"),
            (7.2e9, "120.00m"),
        ] {
            assert_eq!(time_us(microseconds), text);
        }
        assert_eq!([50, 51, 90, 7200].map(time_s), ["50s", "1m", "2m", "120m"]);
        assert_eq!([849.0, 850.0, 850e12].map(count), ["849.00", "0.85k", "850.00T"]);
        assert_eq!([870.0, 871.0, 1048576.0].map(bytes), ["870.00", "0.85K", "1.00M"]);
    }

    #[test]
    fn cells_line_up_their_units() {
        assert_eq!(cell("635.91us", 8), "635.91us");
        assert_eq!(cell("12.30s", 10), "   12.30s ");
        assert_eq!(cell("670.12", 9), " 670.12  ");
        assert_eq!(cell("1234567.89us", 8), "1234567.");
        assert_eq!(cell("-nan", 8), "    -nan");
    }
}
