//! Formats amounts, and makes text from other sources safe to print.

use std::borrow::Cow;

/// Formats a number with at most three significant digits, but all integer digits: `2.10e-4`, `0.00149`, `0.412`, `4.33`, `81.6`, `12345`.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "?".to_owned(),
        _ if size == 0.0 => "0".to_owned(),
        _ if size < 0.000_5 => format!("{value:.2e}"),
        _ if size < 0.000_999_5 => format!("{value:.6}"),
        _ if size < 0.009_995 => format!("{value:.5}"),
        _ if size < 0.099_95 => format!("{value:.4}"),
        _ if size < 0.999_5 => format!("{value:.3}"),
        _ if size < 9.995 => format!("{value:.2}"),
        _ if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats a whole number with separated thousands: `1,234,567`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count or a rate: with separated thousands from 100 on, with three significant digits below.
pub fn count_text(value: f64) -> String {
    if value.is_finite() && value >= 99.95 { grouped(value.round() as u64) } else { significant(value) }
}

/// Formats a count or a rate that a user chose, or that is shown next to such a value: like [`count_text`], but with up to six
/// decimals if these are necessary to represent the value.
pub fn exact_count_text(value: f64) -> String {
    exact(value, count_text(value))
}

/// Formats a time in nanoseconds, in the unit that suits it best: `412 µs`, `4.33 ms`, `1.20 s`.
pub fn duration_text(ns: f64) -> String {
    let (scale, unit) = time_unit(ns);
    format!("{} {unit}", significant(ns / scale))
}

/// Formats a time that a user chose, or that is shown next to such a value: like [`duration_text`], but with up to six decimals
/// if these are necessary to represent the value.
///
/// ```
/// # use plimsoll_units::exact_duration_text;
/// assert_eq!(exact_duration_text(1_234_000_000.0), "1.234 s");
/// assert_eq!(exact_duration_text(50_000_000.0), "50.0 ms");
/// ```
pub fn exact_duration_text(ns: f64) -> String {
    let (scale, unit) = time_unit(ns);
    format!("{} {unit}", exact(ns / scale, significant(ns / scale)))
}

/// Returns the unit that suits a time best: its size in nanoseconds, and its name.
fn time_unit(ns: f64) -> (f64, &'static str) {
    // The unit changes where three digits would be rounded up to the next unit.
    match ns.abs() {
        size if size < 999.5 => (1.0, "ns"),
        size if size < 999.5e3 => (1e3, "µs"),
        size if size < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Returns `short` if it represents the number exactly, otherwise the number to six decimals.
fn exact(value: f64, short: String) -> String {
    let is_all = short.replace(',', "").parse().is_ok_and(|read: f64| (read - value).abs() < 5e-7);
    if is_all || !value.is_finite() { short } else { decimals(value, 6) }
}

/// Formats a number to this many decimals, without trailing zeros.
fn decimals(value: f64, count: usize) -> String {
    let text = format!("{value:.count$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats an amount of bytes in SI units (1 kB = 1000 B): `15 B`, `13.7 MB`.
pub fn bytes_text(bytes: f64) -> String {
    let (scale, unit) = match bytes.abs() {
        size if size < 999.5 => (1.0, "B"),
        size if size < 999.5e3 => (1e3, "kB"),
        size if size < 999.5e6 => (1e6, "MB"),
        size if size < 999.5e9 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    let amount = if scale == 1.0 { format!("{bytes:.0}") } else { significant(bytes / scale) };
    format!("{amount} {unit}")
}

/// Formats a ratio as a percentage: `100 %`, `99.95 %`. Only a ratio of 1 becomes `100 %`: slightly lower ones are truncated, never rounded
/// up. Only 0 becomes `0 %`: slightly higher ratios become `< 0.001 %`.
pub fn percent_text(ratio: f64) -> String {
    let percent = cut_percent(ratio, 3);
    if !percent.is_finite() {
        return "? %".to_owned();
    }
    if ratio > 0.0 && percent == 0.0 {
        return "< 0.001 %".to_owned();
    }
    format!("{} %", decimals(percent, 3))
}

/// Formats a ratio that a user chose as a limit, with all its digits: `99.9999 %`.
pub fn exact_percent_text(ratio: f64) -> String {
    format!("{} %", decimals(100.0 * ratio, 9))
}

/// Converts a ratio to a percentage, truncated to this many decimals: a ratio below 1 stays below 100.
///
/// ```
/// # use plimsoll_units::cut_percent;
/// assert_eq!(cut_percent(0.29, 3), 29.0);
/// assert_eq!(cut_percent(0.999_999_9, 2), 99.99);
/// ```
pub fn cut_percent(ratio: f64, decimals: i32) -> f64 {
    /// Keeps a ratio such as 0.29, whose binary fraction is slightly smaller, from being truncated to the value below.
    const ROUNDING: f64 = 1e-7;
    let scale = 10_f64.powi(decimals);
    let most = if ratio < 1.0 { 100.0 * scale - 1.0 } else { f64::INFINITY };
    (100.0 * scale * ratio + ROUNDING).floor().min(most) / scale
}

/// Formats a ratio as a percentage, without decimals from 10 % on: `97 %`, `4.2 %`.
pub fn share_text(ratio: f64) -> String {
    let percent = 100.0 * ratio;
    if !percent.is_finite() {
        return "? %".to_owned();
    }
    if percent == 0.0 || percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// Formats a part of a whole like [`share_text`]: `67 %`, `4.2 %`. A part above 0 never prints as 0 %, and one below 1 never as 100 %.
pub fn part_text(ratio: f64) -> String {
    let text = share_text(ratio);
    let is_false = (ratio < 1.0 && text == "100 %") || (ratio > 0.0 && text == "0.0 %");
    if is_false { percent_text(ratio) } else { text }
}

/// Makes text from a server or a file safe for a terminal. Characters that control a terminal, or that hide or reorder
/// neighbouring text, are replaced by visible escapes.
pub fn escape_control(text: &str) -> String {
    text.chars()
        .flat_map(|c| if steers(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}

/// Makes complete output safe for a terminal, keeping its line ends. With `styles`, colours and weights that this program
/// creates pass (SGR, `ESC [ … m`). All other control characters are shown as in JSON: `\u001b`.
///
/// Names and messages are escaped when they are inserted into a sentence. This is a safety net for any that were not.
pub fn printable(text: &str, styles: bool) -> Cow<'_, str> {
    let is_safe = |c: char| matches!(c, '\n' | '\t') || !steers(c);
    if text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = if styles { style_bytes(rest) } else { 0 };
        let taken = style.max(c.len_utf8());
        if style > 0 || is_safe(c) {
            safe.push_str(&rest[..taken]);
        } else {
            // As in JSON, characters beyond 16 bits are two surrogates.
            c.encode_utf16(&mut [0; 2]).iter().for_each(|half| safe.push_str(&format!("\\u{half:04x}")));
        }
        rest = &rest[taken..];
    }
    Cow::Owned(safe)
}

/// Returns the length of the style sequence at the beginning of a text; 0 if there is none that this program uses.
fn style_bytes(text: &str) -> usize {
    /// Plain, bold, faint, underlined, red, green and yellow (ECMA-48, section 8.3.117).
    const USED: [&str; 7] = ["0", "1", "2", "4", "31", "32", "33"];
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';');
    let end = end.filter(|end| parameters[*end..].starts_with('m'));
    let end = end.filter(|end| parameters[..*end].split(';').all(|parameter| USED.contains(&parameter)));
    end.map_or(0, |end| end + "\u{1b}[m".len())
}

/// Whether a character controls a terminal: a control character, or an invisible one that changes the direction or the position of others
/// (Unicode's category Cf, and its line separators).
fn steers(c: char) -> bool {
    let is_invisible = matches!(
        c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}' | '\u{e0020}'..='\u{e007f}'
    );
    c.is_control() || is_invisible
}

/// Returns the known name that a mistyped one was probably meant to be, by Jaro–Winkler similarity; `None` if none is similar enough.
///
/// ```
/// # use plimsoll_units::nearest;
/// assert_eq!(nearest("durration", ["rate", "duration"]), Some("duration"));
/// assert_eq!(nearest("x", ["rate", "duration"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// The similarity from 0 (nothing in common) to 1 (equal).
    const MIN_LIKENESS: f64 = 0.75;
    most_alike(name, known).filter(|one| strsim::jaro_winkler(name, one) >= MIN_LIKENESS)
}

/// Returns the most similar known name, however low the similarity; `None` if there are no names.
pub fn most_alike<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|one| (strsim::jaro_winkler(name, one), one));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
}

/// The maximum of names that are listed; the others are counted.
const MAX_NAMED: usize = 5;

/// Lists the first names, and how many more there are.
pub fn named<S: AsRef<str>>(names: &[S]) -> String {
    let listed: Vec<&str> = names.iter().take(MAX_NAMED).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(MAX_NAMED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_that_an_answer_uses_pass_and_what_is_invisible_is_shown() {
        let green = "\u{1b}[1m\u{1b}[32mheld\u{1b}[0m";
        assert_eq!(printable(green, true), green);
        assert_eq!(printable("\u{1b}[8m", true), "\\u001b[8m", "concealed");
        assert_eq!(printable("\u{1b}[30;40m", true), "\\u001b[30;40m", "black on black");
        assert_eq!(printable("a\u{e0041}b\u{180e}", false), "a\\udb40\\udc41b\\u180e");
        assert_eq!(escape_control("\u{e0041}"), "\\u{e0041}");
    }

    #[test]
    fn a_number_has_three_digits_however_small_it_is() {
        let check = |value, text: &str| assert_eq!(significant(value), text);
        check(0.000_21, "2.10e-4");
        check(0.000_5, "0.000500");
        check(0.000_999_6, "0.00100");
        check(0.001_49, "0.00149");
        check(-0.012_34, "-0.0123");
        check(0.099_96, "0.100");
        check(0.999_6, "1.00");
    }

    #[test]
    fn times_keep_three_digits_and_pick_their_unit() {
        let check = |ns, text: &str| assert_eq!(duration_text(ns), text);
        check(850.0, "850 ns");
        check(412_345.0, "412 µs");
        check(4_330_000.0, "4.33 ms");
        check(999_600.0, "1.00 ms");
        check(1_204_000_000.0, "1.20 s");
        check(0.0, "0 ns");
    }

    #[test]
    fn limits_are_printed_with_all_their_digits() {
        assert_eq!(exact_duration_text(200_400_896.0), "200.400896 ms");
        assert_eq!(exact_duration_text(500_000_000.0), "500 ms");
        assert_eq!(
            (exact_count_text(499.6), exact_count_text(1_500.0)),
            ("499.6".to_owned(), "1,500".to_owned())
        );
        assert_eq!(exact_percent_text(0.999_999), "99.9999 %");
        assert_eq!(
            (exact_percent_text(0.9995), exact_percent_text(1.0)),
            ("99.95 %".to_owned(), "100 %".to_owned())
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(count_text(12_345.6), "12,346");
        assert_eq!(count_text(81.63), "81.6");
    }

    #[test]
    fn almost_all_is_never_printed_as_all() {
        assert_eq!(percent_text(1.0), "100 %");
        assert_eq!(percent_text(0.999_999_9), "99.999 %");
        assert_eq!(percent_text(0.9995), "99.95 %");
        assert_eq!(percent_text(0.999_999_999_999_9), "99.999 %");
        assert_eq!(percent_text(0.5), "50 %");
        assert_eq!(percent_text(0.0), "0 %");
        assert_eq!(percent_text(14.0 / 1_450_000.0), "< 0.001 %");
    }

    #[test]
    fn a_ratio_of_a_thousand_is_printed_with_all_its_digits() {
        for part in 0..=1000_u32 {
            let percent = f64::from(part) / 10.0;
            assert_eq!(percent_text(f64::from(part) / 1e3), format!("{percent} %"));
        }
    }

    #[test]
    fn shares_are_whole_from_ten_per_cent_on() {
        assert_eq!(share_text(0.0), "0 %");
        assert_eq!(share_text(0.042), "4.2 %");
        assert_eq!(share_text(0.0996), "10 %");
        assert_eq!(share_text(1.237), "124 %");
    }

    #[test]
    fn a_part_is_neither_none_nor_all_unless_it_is() {
        assert_eq!((part_text(0.0), part_text(1.0)), ("0 %".to_owned(), "100 %".to_owned()));
        assert_eq!((part_text(0.996), part_text(0.000_3)), ("99.6 %".to_owned(), "0.03 %".to_owned()));
        assert_eq!((part_text(2.0 / 3.0), part_text(1e-9)), ("67 %".to_owned(), "< 0.001 %".to_owned()));
    }

    #[test]
    fn a_ratio_that_is_no_number_is_printed_as_unknown() {
        for ratio in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            assert_eq!((percent_text(ratio).as_str(), share_text(ratio).as_str()), ("? %", "? %"));
        }
    }

    #[test]
    fn bytes_are_si() {
        assert_eq!(bytes_text(15.0), "15 B");
        assert_eq!(bytes_text(13_700_000.0), "13.7 MB");
    }

    #[test]
    fn a_servers_escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(escape_control("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(escape_control("ok\u{1b}[2J\n"), "ok\\u{1b}[2J\\n");
    }

    #[test]
    fn only_styles_reach_a_terminal_and_only_where_they_are_asked_for() {
        let text = "\u{1b}[1;31mred\u{1b}[0m\n\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}\t.";
        assert_eq!(
            printable(text, true),
            "\u{1b}[1;31mred\u{1b}[0m\n\\u001b]0;title\\u0007\\u001b[2J\\u009b31m\\u202e\t."
        );
        assert!(!printable(text, false).contains('\u{1b}'));
        assert!(matches!(printable("plain – text\n", false), Cow::Borrowed(_)));
        assert_eq!(printable("\u{1b}[1", true), "\\u001b[1");
    }
}
