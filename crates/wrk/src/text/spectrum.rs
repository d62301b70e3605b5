//! wrk2's distribution of a histogram: eight percentiles, then HdrHistogram's detailed table.

use hdrhistogram::Histogram as AnyHistogram;
use plimsoll_record::Histogram;

use super::cell;
use crate::stats::Distribution;

/// wrk2's title for service times.
pub(super) const UNCORRECTED: &str =
    "Uncorrected Latency (measured without taking delayed starts into account)";

const PERCENTILES: [f64; 8] = [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0];

/// The number of table rows until half of the distance to 100 % is covered.
const TICKS_PER_HALF_DISTANCE: f64 = 5.0;

/// The longest time of wrk2's histograms: a day, in microseconds. From it and the significant digits, a reader of the
/// table can compute its resolution.
const LONGEST_US: u64 = 24 * 60 * 60 * 1_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// The histogram is in microseconds, and its table in milliseconds.
const SCALE: f64 = 1000.0;

/// Returns the whole section of a histogram in nanoseconds, with its closing line of 58 dashes.
pub(super) fn section(title: &str, histogram_ns: &Histogram) -> String {
    let latency = Distribution::from_histogram_ns(histogram_ns);
    let histogram = in_microseconds(&latency);
    let mut text = format!("  Latency Distribution (HdrHistogram - {title})\n");
    for percent in PERCENTILES {
        let value = cell::time_us(histogram.value_at_quantile(percent / 100.0) as f64);
        text += &format!("{percent:>7.3}%{}\n", cell::cell(&value, 10));
    }
    text += "\n  Detailed Percentile spectrum:\n";
    text += &table(&histogram);
    text += &footer(&latency, &histogram);
    text + &"-".repeat(58) + "\n"
}

/// Converts the times to a histogram with the range and precision of wrk2's.
fn in_microseconds(latency: &Distribution) -> AnyHistogram<u64> {
    let mut histogram = match AnyHistogram::new_with_bounds(1, LONGEST_US, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        // The library accepts these constant bounds; the first test run would show if it did not.
        Err(_) => unreachable!("constant histogram bounds"),
    };
    for (value, count) in latency.pairs() {
        histogram.saturating_record_n(*value, *count);
    }
    histogram
}

fn table(histogram: &AnyHistogram<u64>) -> String {
    let mut text =
        format!("{:>12} {:>12} {:>12} {:>12}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    if histogram.is_empty() {
        return text + &row(0, 100.0, 0);
    }
    let (mut percent, mut count) = (0.0, 0);
    for bucket in histogram.iter_recorded() {
        count += bucket.count_at_value();
        let reached = 100.0 * count as f64 / histogram.len() as f64;
        while percent <= reached {
            text += &row(bucket.value_iterated_to(), percent, count);
            percent += tick(percent);
            if count == histogram.len() {
                return text + &row(bucket.value_iterated_to(), 100.0, count);
            }
        }
    }
    text
}

/// Returns the distance from this row's percentile to the next. It is constant for half of the distance that is left to
/// 100 %, then it halves. The library's own iterator counts in shares of 1, whose steps are not exact in binary: it skips
/// some rows that HdrHistogram's original, and so wrk2, prints.
fn tick(percent: f64) -> f64 {
    let halvings = ((100.0 / (100.0 - percent)).ln() / 2.0_f64.ln()) as i32 + 1;
    100.0 / (TICKS_PER_HALF_DISTANCE * 2.0_f64.powi(halvings))
}

fn row(value_us: u64, percent: f64, count: u64) -> String {
    let (value, quantile) = (value_us as f64 / SCALE, percent / 100.0);
    let inverse = 1.0 / (1.0 - quantile);
    format!("{value:>12.3} {quantile:>12.6} {count:>12} {inverse:>12.2}\n")
}

fn footer(latency: &Distribution, histogram: &AnyHistogram<u64>) -> String {
    let in_ms = |us: f64| cell::fixed(us / SCALE, 3);
    let (mean, stdev) =
        if latency.count() == 0 { (f64::NAN, f64::NAN) } else { (latency.mean(), latency.stdev_of_whole()) };
    let (mean, stdev, max) = (in_ms(mean), in_ms(stdev), in_ms(latency.max() as f64));
    let sub_buckets = 2 * 10_u32.pow(SIGNIFICANT_DIGITS.into());
    format!(
        "#[Mean    = {mean:>12}, StdDeviation   = {stdev:>12}]\n\
         #[Max     = {max:>12}, Total count    = {:>12}]\n\
         #[Buckets = {:>12}, SubBuckets     = {:>12}]\n",
        latency.count(),
        histogram.buckets(),
        sub_buckets.next_power_of_two()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::latency_histogram;

    #[test]
    fn a_distribution_reads_as_wrk2_prints_it() {
        let mut histogram = latency_histogram();
        histogram.saturating_record_n(1_000_500, 6);
        histogram.saturating_record_n(2_000_500, 3);
        histogram.saturating_record_n(40_000_000, 1);
        let expected = "  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.00ms
 75.000%    2.00ms
 90.000%    2.00ms
 99.000%   40.00ms
 99.900%   40.00ms
 99.990%   40.00ms
 99.999%   40.00ms
100.000%   40.00ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       1.000     0.000000            6         1.00
       1.000     0.100000            6         1.11
       1.000     0.200000            6         1.25
       1.000     0.300000            6         1.43
       1.000     0.400000            6         1.67
       1.000     0.500000            6         2.00
       1.000     0.550000            6         2.22
       1.000     0.600000            6         2.50
       2.000     0.650000            9         2.86
       2.000     0.700000            9         3.33
       2.000     0.750000            9         4.00
       2.000     0.775000            9         4.44
       2.000     0.800000            9         5.00
       2.000     0.825000            9         5.71
       2.000     0.850000            9         6.67
       2.000     0.875000            9         8.00
       2.000     0.887500            9         8.89
       2.000     0.900000            9        10.00
      39.999     0.912500           10        11.43
      39.999     1.000000           10          inf
#[Mean    =        5.199, StdDeviation   =       11.607]
#[Max     =       39.993, Total count    =           10]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
";
        assert_eq!(section("Recorded Latency", &histogram), expected);
    }

    /// Half-way cases of the sixth decimal, as they stand in tables that wrk2 printed.
    #[test]
    fn the_rows_stand_at_the_percentiles_where_wrk2_has_them() {
        let mut histogram = latency_histogram();
        (1..=2000).for_each(|microseconds| histogram.saturating_record(microseconds * 1000 + 500));
        let text = section("Recorded Latency", &histogram);
        for row in ["0.989062         1979        91.43", "0.995313         1991       213.33"] {
            assert!(text.contains(row), "{row} in\n{text}");
        }
        let last_rows =
            "0.999512         2000      2048.00\n       2.000     1.000000         2000          inf\n";
        assert!(text.contains(last_rows), "{text}");
    }

    #[test]
    fn nothing_measured_still_closes_the_section() {
        let text = section(UNCORRECTED, &latency_histogram());
        assert!(text.contains("\n 50.000%    0.00us\n"), "{text}");
        assert!(
            text.contains("       0.000     1.000000            0          inf\n#[Mean    =         -nan")
        );
        assert!(text.ends_with("-\n"));
    }
}
