//! Numbers with their units, in cells of fixed width.

/// Units in rising order, each `factor` times the one before it.
struct Scale {
    base: &'static str,
    factor: f64,
    units: &'static [&'static str],
}

const MICROSECONDS: Scale = Scale { base: "us", factor: 1000.0, units: &["ms"] };
const SECONDS: Scale = Scale { base: "s", factor: 60.0, units: &["m"] };
const METRIC: Scale = Scale { base: "", factor: 1000.0, units: &["k", "M", "G", "T"] };
const BINARY: Scale = Scale { base: "", factor: 1024.0, units: &["K", "M", "G", "T"] };

/// A larger unit is taken from this share of it on, so that 860 µs read `0.86ms`.
const UNIT_SHARE: f64 = 0.85;

/// A number as C prints it: what is no number, only ever 0/0 here, has a sign there.
pub(super) fn fixed(number: f64, decimals: usize) -> String {
    if number.is_nan() { "-nan".to_owned() } else { format!("{number:.decimals$}") }
}

fn scaled(number: f64, scale: &Scale, decimals: usize) -> String {
    let (mut amount, mut unit) = (number, scale.base);
    for larger in scale.units {
        if amount >= scale.factor * UNIT_SHARE {
            (amount, unit) = (amount / scale.factor, larger);
        } else {
            break;
        }
    }
    fixed(amount, decimals) + unit
}

/// A time given in microseconds, in µs, ms, s or m. wrk has no larger unit.
pub(super) fn time_us(microseconds: f64) -> String {
    if microseconds >= 1e6 {
        scaled(microseconds / 1e6, &SECONDS, 2)
    } else {
        scaled(microseconds, &MICROSECONDS, 2)
    }
}

/// Whole seconds or minutes: `30s`, `2m`.
pub(super) fn time_s(seconds: u64) -> String {
    scaled(seconds as f64, &SECONDS, 0)
}

/// A count in thousands: `56.20k`.
pub(super) fn count(number: f64) -> String {
    scaled(number, &METRIC, 2)
}

/// Bytes in multiples of 1024, to be followed by the letter B: `17.76G`.
pub(super) fn bytes(number: f64) -> String {
    scaled(number, &BINARY, 2)
}

/// A cell of this width: units of two letters, of one and of none end in columns of their own. Text that is too long
/// loses its end.
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
