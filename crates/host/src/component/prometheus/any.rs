//! Rows that nothing else takes, in whole numbers.

use super::row::Row;
use crate::source::Counters;

/// So many rows of one page are kept. Pages that tell of each path and each customer have tens of thousands.
const ROWS_MAX: usize = 500;

/// Words in a name after which a number is whole.
const WHOLE: [&str; 5] = ["_total", "_count", "_bytes", "_bucket", "_created"];

/// The rows by name and labels, except those that are parts of a distribution (`_bucket`, quantiles) and those below zero.
/// Counters are whole numbers, so that seconds become microseconds (`_seconds` becomes `_us`, last in the name), what is
/// whole by its name stays, and everything else becomes thousandths (`_milli`). How many rows are beyond the limit is
/// `rows_left_out`.
pub(super) fn counters(rows: &[Row<'_>]) -> Counters {
    let kept = |row: &&Row<'_>| {
        row.value >= 0.0 && !row.name.ends_with("_bucket") && row.label("quantile").is_none()
    };
    let mut kept = rows.iter().filter(kept);
    let mut counters: Counters = kept.by_ref().take(ROWS_MAX).map(counter).collect();
    let beyond = kept.count() as u64;
    if beyond > 0 {
        counters.insert("rows_left_out".to_owned(), beyond);
    }
    counters
}

fn counter(row: &Row<'_>) -> (String, u64) {
    let (name, scale) = whole(row.name);
    let labels: Vec<String> = row.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let name = if labels.is_empty() { name } else { format!("{name}{{{}}}", labels.join(",")) };
    (name, (row.value * scale).round() as u64)
}

/// The name of the whole number, and how many of its units one of theirs is.
fn whole(name: &str) -> (String, f64) {
    // A count of things that took seconds is not a time.
    if name.contains("_seconds") && !name.ends_with("_count") {
        return (format!("{}_us", name.replacen("_seconds", "", 1)), 1e6);
    }
    if WHOLE.iter().any(|word| name.ends_with(word)) {
        return (name.to_owned(), 1.0);
    }
    (format!("{name}_milli"), 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::row::rows;
    use super::*;

    fn kept(page: &str) -> Counters {
        counters(&rows(page).unwrap())
    }

    #[test]
    fn names_say_the_unit_of_the_whole_number() {
        let page = "process_cpu_seconds_total 12.345678\nhttp_duration_seconds_sum{path=\"/\"} 0.25\n\
                    http_duration_seconds_count{path=\"/\"} 3\nopen_files_bytes 7\nload1 0.52\n";
        let expected = [
            ("http_duration_seconds_count{path=/}", 3),
            ("http_duration_sum_us{path=/}", 250_000),
            ("load1_milli", 520),
            ("open_files_bytes", 7),
            ("process_cpu_total_us", 12_345_678),
        ];
        assert_eq!(kept(page), expected.map(|(name, value)| (name.to_owned(), value)).into());
    }

    #[test]
    fn parts_of_distributions_are_left_out_and_too_many_rows_are_counted() {
        let page = "a_bucket{le=\"1\"} 3\na{quantile=\"0.5\"} 1\na_sum 4\nb -1\n";
        assert_eq!(kept(page), Counters::from([("a_sum_milli".to_owned(), 4000)]));
        let page: String = (0..ROWS_MAX + 7).map(|index| format!("a_total{{i=\"{index}\"}} 1\n")).collect();
        let counters = kept(&page);
        assert_eq!((counters.len(), counters["rows_left_out"]), (ROWS_MAX + 1, 7));
    }
}
