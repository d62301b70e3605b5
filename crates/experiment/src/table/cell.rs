//! One cell of a table as a number with its unit. It reads common notations: `~12K`, `33.5k req/s`, `6.97ms`, `1,516.639`,
//! `64 * 4`, `2804 (-5%)`, `67.04 ms / 110.88 ms`.

use super::unit::{self, Unit};

/// A number with the unit after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) number: f64,
    /// `None` if no unit follows the number.
    pub(super) unit: Option<Unit>,
}

/// Why a cell is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoNumber {
    /// Nothing was measured: the cell is empty, or a dash.
    Empty,
    /// A range whose ends are far apart.
    Range,
    /// The unit does not fit the meaning of the column.
    Unit,
    Other,
}

/// Notations for no measurement.
const NOTHING: [&str; 9] = ["", "-", "–", "—", "n/a", "na", "nan", "null", "?"];
/// Signs before a number that is not exact.
const ABOUT: [char; 7] = ['~', '≈', '≥', '≤', '>', '<', '*'];
/// Footnote marks after a number.
const MARKS: [char; 4] = ['*', '†', '‡', '¹'];
/// Separators between the ends of a range.
const DASHES: [char; 3] = ['-', '–', '—'];
/// The highest ratio between the ends of a range that counts as one number.
const NARROW: f64 = 1.1;
/// Separators of digit groups, in addition to comma and point.
const SPACES: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '_'];

impl Cell {
    /// Parses a cell. Of several figures separated by ` / ` it takes the first, and it ignores text in parentheses.
    pub(super) fn parse(text: &str) -> Result<Self, NoNumber> {
        let text = text.trim();
        if NOTHING.contains(&text.to_lowercase().as_str()) {
            return Err(NoNumber::Empty);
        }
        let first = text.split(" / ").next().unwrap_or(text);
        let first = first.split('(').next().unwrap_or(first);
        let first = first.trim().trim_start_matches(ABOUT).trim_end_matches(MARKS).trim();
        factors(without_letter(first))
    }
}

/// Strips the letter of a load level such as `c32`.
fn without_letter(text: &str) -> &str {
    let level =
        text.strip_prefix('c').filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    level.unwrap_or(text)
}

/// Parses a product of numbers, as in `64 * 4` threads; most cells have one factor.
fn factors(text: &str) -> Result<Cell, NoNumber> {
    let parts: Vec<&str> = text.split(['*', '×']).collect();
    let cells: Vec<Cell> = parts.iter().map(|part| quantity(part.trim())).collect::<Result<_, _>>()?;
    let number = cells.iter().map(|cell| cell.number).product();
    let unit = cells.iter().find_map(|cell| cell.unit);
    Ok(Cell { number, unit })
}

/// Parses a number with an exponent and its unit, as spreadsheets and Python write it: `5e-05`, `1.23E+11 B`.
fn scientific(text: &str) -> Option<Cell> {
    let (digits, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_meant = text.starts_with(|letter: char| letter.is_ascii_digit()) && digits.contains(['e', 'E']);
    let number = digits.parse().ok().filter(|number: &f64| is_meant && number.is_finite())?;
    if rest.is_empty() {
        return Some(Cell { number, unit: None });
    }
    let suffix = unit::read(rest.trim())?;
    Some(Cell { number: number * suffix.multiple, unit: suffix.unit })
}

fn quantity(text: &str) -> Result<Cell, NoNumber> {
    if let Some(cell) = scientific(text) {
        return Ok(cell);
    }
    let is_of_number =
        |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',' || SPACES.contains(&letter);
    let end = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if !digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') {
        return Err(NoNumber::Other);
    }
    let number = number(digits.trim()).ok_or(NoNumber::Other)?;
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(Cell { number, unit: None });
    }
    if let Some(end) = rest.strip_prefix(DASHES) {
        return range(number, quantity(end.trim())?);
    }
    let unit = unit::read(rest).ok_or(NoNumber::Other)?;
    Ok(Cell { number: number * unit.multiple, unit: unit.unit })
}

/// The middle of a range whose ends differ by no more than a measurement error.
fn range(low: f64, high: Cell) -> Result<Cell, NoNumber> {
    let is_narrow = low <= high.number && high.number <= NARROW * low;
    is_narrow.then_some(Cell { number: low.midpoint(high.number), ..high }).ok_or(NoNumber::Range)
}

/// Parses digits with separators. A single point is decimal; a comma is decimal unless it separates groups of three.
fn number(digits: &str) -> Option<f64> {
    let digits: String = digits.chars().filter(|letter| !SPACES.contains(letter)).collect();
    let (comma, point) = (digits.rfind(','), digits.rfind('.'));
    let decimal = match (comma, point) {
        (Some(comma), Some(point)) => Some(if comma > point { ',' } else { '.' }),
        (Some(_), None) => (!is_grouped(&digits, ',')).then_some(','),
        (None, Some(_)) => (digits.matches('.').count() == 1 || !is_grouped(&digits, '.')).then_some('.'),
        (None, None) => None,
    };
    let plain = |letter: char| match letter {
        ',' | '.' => (Some(letter) == decimal).then_some('.'),
        digit => Some(digit),
    };
    digits
        .chars()
        .filter_map(plain)
        .collect::<String>()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

/// True if all groups after the first have three digits. A number with thousands does not begin with a group of 0.
fn is_grouped(digits: &str, separator: char) -> bool {
    let mut groups = digits.split(separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::super::unit::Dimension;
    use super::*;

    fn number_of(text: &str) -> f64 {
        Cell::parse(text).unwrap().number
    }

    #[test]
    fn separators_marks_and_multiples_are_read() {
        for (text, number) in [
            ("14,271", 14_271.0),
            ("1,516.639", 1_516.639),
            ("1.516,5", 1_516.5),
            ("1 111 msg/s", 1_111.0),
            ("3,5", 3.5),
            ("0,512", 0.512),
            ("0,512 ms", 0.512),
            ("10,512", 10_512.0),
            ("1.234.567", 1_234_567.0),
            (".5", 0.5),
            ("~12K", 12_000.0),
            ("10.9k req/s", 10_900.0),
            ("10k(10000)", 10_000.0),
            ("2804 (-5%)", 2_804.0),
            ("256 * 4", 1_024.0),
            ("c32", 32.0),
            ("~1 590–1 600 msg/s", 1_595.0),
            ("71841*", 71_841.0),
            ("5e-05", 0.000_05),
            ("1.23E+11", 1.23e11),
            ("2.5e3 req/s", 2_500.0),
        ] {
            assert_eq!(number_of(text), number, "{text}");
        }
    }

    #[test]
    fn a_unit_after_the_number_is_kept() {
        let unit = |text: &str| Cell::parse(text).unwrap().unit.unwrap();
        assert_eq!(unit("6.97ms").dimension, Dimension::Time);
        assert_eq!(unit("218 µs").base, 1e-6);
        assert_eq!(unit("835.8 %").dimension, Dimension::Share);
        assert_eq!(unit("67.04 ms / 110.88 ms").base, 1e-3);
        assert_eq!(unit("2.5 GB").base, 1e9);
        assert_eq!(Cell::parse("850 B/s").unwrap().number, 850.0);
        assert_eq!((unit("850 B/s").base, unit("1.2 Mb/s").base), (8.0, 1e6));
        assert_eq!(Cell::parse("17").unwrap().unit, None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(Cell::parse(" – ").unwrap_err(), NoNumber::Empty);
        assert_eq!(Cell::parse("n/a").unwrap_err(), NoNumber::Empty);
        assert_eq!(Cell::parse("NaN").unwrap_err(), NoNumber::Empty);
        assert_eq!(Cell::parse("0.01–0.08 ms").unwrap_err(), NoNumber::Range);
        assert_eq!(Cell::parse("Shared").unwrap_err(), NoNumber::Other);
        assert_eq!(Cell::parse("12o0").unwrap_err(), NoNumber::Other);
        assert_eq!(Cell::parse("-5").unwrap_err(), NoNumber::Other);
        assert_eq!(Cell::parse("1e999").unwrap_err(), NoNumber::Other);
        assert_eq!(Cell::parse("5e").unwrap_err(), NoNumber::Other);
    }
}
