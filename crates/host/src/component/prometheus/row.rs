//! Parser of Prometheus's text format, version 0.0.4, and of the parts of OpenMetrics that are the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// One sample: `name{label="value",…} number time`.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    pub(super) labels: Vec<(&'a str, Cow<'a, str>)>,
    pub(super) value: f64,
    /// The time of measurement, in milliseconds of the server's clock; most pages leave it out.
    pub(super) time_ms: Option<u64>,
}

impl Row<'_> {
    /// Returns the value of a label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_ref())
    }
}

/// Parses all samples of a page. A value that is not finite means "not known" and is left out. Returns `None` if a line has another
/// format, which means that this is another kind of page.
pub(super) fn rows(page: &str) -> Option<Vec<Row<'_>>> {
    let lines = page.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut rows = Vec::new();
    for line in lines {
        let row = row(line)?;
        if row.value.is_finite() {
            rows.push(row);
        }
    }
    Some(rows)
}

fn row(line: &str) -> Option<Row<'_>> {
    let end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    let mut numbers = rest.split_ascii_whitespace();
    let value = numbers.next()?.parse().ok()?;
    let time_ms = numbers.next().and_then(|time| time.parse().ok());
    is_name(name).then_some(Row { name, labels, value, time_ms })
}

fn is_name(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | ':'));
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
}

/// Labels with their values, and the text after the closing brace.
type Labels<'a> = (Vec<(&'a str, Cow<'a, str>)>, &'a str);

fn labels(mut rest: &str) -> Option<Labels<'_>> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start())?;
        labels.push((name.trim(), value));
        rest = after;
    }
}

/// Parses a quoted value with the escapes `\\`, `\"` and `\n`. Returns it with the text that follows.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let text = text.strip_prefix('"')?;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((unescaped(&text[..at]), &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next().map(|next| if next == 'n' { '\n' } else { next })),
            _ => plain.push(letter),
        }
    }
    Cow::Owned(plain)
}

/// The rows of a page by name.
pub(super) struct Index<'a> {
    rows: BTreeMap<&'a str, Vec<&'a Row<'a>>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(rows: &'a [Row<'a>]) -> Self {
        let mut index: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
        for row in rows {
            index.entry(row.name).or_default().push(row);
        }
        Self { rows: index }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// Returns all rows of this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'a Row<'a>> + use<'a, '_> {
        self.rows.get(name).into_iter().flatten().copied()
    }

    /// Returns the sum of all rows of this name, multiplied by `scale`.
    pub(super) fn sum(&self, name: &str, scale: f64) -> Option<u64> {
        self.sum_of(name, scale, |_| true)
    }

    /// Returns the sum of the rows of this name that pass, multiplied by `scale`; `None` if no row passes. Negative values mean
    /// "not known" on such pages and are left out.
    pub(super) fn sum_of(&self, name: &str, scale: f64, passes: impl Fn(&Row<'_>) -> bool) -> Option<u64> {
        let rows = self.all(name).filter(|row| passes(row) && row.value >= 0.0);
        let sum = rows.map(|row| row.value).reduce(|sum, value| sum + value)?;
        Some((sum * scale).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Row<'_> {
        rows(line).unwrap().remove(0)
    }

    #[test]
    fn labels_numbers_times_and_exemplars_are_distinguished() {
        let row = one("http_requests_total{method=\"post\",code=\"200\",} 1.027e3 1395066363000");
        assert_eq!((row.name, row.value), ("http_requests_total", 1027.0));
        assert_eq!((row.label("code"), row.label("path")), (Some("200"), None));
        assert_eq!(one("up 1").labels, []);
        let exemplar = "h_bucket{le=\"0.1\"} 8 # {trace=\"a b\"} 0.067";
        assert_eq!(one(exemplar).value, 8.0);
    }

    #[test]
    fn values_of_labels_may_hold_quotes_braces_and_lines() {
        let row = one(r#"m{a="C:\\dir\n\"x\" } 7",b=""} 3"#);
        assert_eq!((row.label("a"), row.label("b")), (Some("C:\\dir\n\"x\" } 7"), Some("")));
        assert_eq!(row.value, 3.0);
    }

    #[test]
    fn what_is_not_known_is_left_out_and_what_is_no_page_is_none() {
        let page = "# HELP a b\n# TYPE a gauge\n\na NaN\nb +Inf\nc -1\n";
        assert_eq!(rows(page).unwrap().len(), 1);
        for other in ["<html><body>", "{\"a\": 1}", "a", "a{b=\"c 1", "a{b} 1", "1a 2", "a b"] {
            assert_eq!(rows(other), None, "{other}");
        }
    }
}
