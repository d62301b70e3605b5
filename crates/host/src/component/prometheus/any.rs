//! Arbitrary rows as whole numbers.

use plimsoll_record::CounterSet;
use plimsoll_record::metric::prometheus;

use super::row::Row;

/// The most rows kept of one page. Pages with a row for each path and customer have tens of thousands.
const MAX_ROWS: usize = 500;

/// Endings of names whose values are whole numbers.
const WHOLE: [&str; 5] = ["_total", "_count", "_bytes", "_bucket", "_created"];

/// Converts rows to counters by name and labels, without parts of a distribution (`_bucket`, quantiles) and negative values.
/// Counters are whole numbers, so seconds become microseconds (`_seconds` becomes `_us` at the end of the name). Numbers that are
/// whole by their name stay, and all others become thousandths (`_milli`).
pub(super) fn counters(rows: &[Row<'_>]) -> CounterSet {
    let kept = |row: &&Row<'_>| {
        row.value >= 0.0 && !row.name.ends_with("_bucket") && row.label("quantile").is_none()
    };
    let mut kept = rows.iter().filter(kept);
    let mut counters = CounterSet::default();
    for row in kept.by_ref().take(MAX_ROWS) {
        let (name, value) = counter(row);
        counters.put_made(name, value);
    }
    let left_out = kept.count() as u64;
    counters.put(prometheus::ROWS_LEFT_OUT, (left_out > 0).then_some(left_out));
    counters
}

fn counter(row: &Row<'_>) -> (String, u64) {
    let (name, scale) = whole(row.name);
    let labels: Vec<String> = row.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let name = if labels.is_empty() { name } else { format!("{name}{{{}}}", labels.join(",")) };
    (name, (row.value * scale).round() as u64)
}

/// Returns the counter's name, and how many of its units one unit of the row is.
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
    use plimsoll_record::Counters;

    fn kept(page: &str) -> Counters {
        counters(&rows(page).unwrap()).into()
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
        assert_eq!(kept(page).iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn parts_of_distributions_are_left_out_and_too_many_rows_are_counted() {
        let page = "a_bucket{le=\"1\"} 3\na{quantile=\"0.5\"} 1\na_sum 4\nb -1\n";
        assert_eq!(kept(page).iter().collect::<Vec<_>>(), [("a_sum_milli", 4000)]);
        let page: String = (0..MAX_ROWS + 7).map(|index| format!("a_total{{i=\"{index}\"}} 1\n")).collect();
        let counters = kept(&page);
        assert_eq!((counters.len(), counters[prometheus::ROWS_LEFT_OUT]), (MAX_ROWS + 1, 7));
    }
}
