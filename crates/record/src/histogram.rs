//! Histograms of times, live and encoded.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

use crate::sparse_counts::Shape;

/// A histogram of times in nanoseconds, with three significant digits.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// The upper end of a histogram's last bucket, about 37 minutes. Longer times are recorded as this.
const LONGEST_NS: u64 = (1 << 41) - 1;
/// The maximum that histograms in older files declare. Their buckets are the same.
const OLDER_BOUND_NS: u64 = 1 << 40;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Creates an empty histogram. All have the same bounds, so any two can be merged exactly.
pub fn latency_histogram() -> Histogram {
    bounded(LONGEST_NS)
}

fn bounded(longest_ns: u64) -> Histogram {
    match Histogram::new_with_bounds(1, longest_ns, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        // The library accepts these constant bounds; otherwise the first test run would fail.
        Err(_) => unreachable!("constant histogram bounds"),
    }
}

/// The shapes of encoded histograms: of [`latency_histogram`], and of older files.
static SHAPES: LazyLock<[Option<Shape>; 2]> = LazyLock::new(|| [LONGEST_NS, OLDER_BOUND_NS].map(shape));

fn shape(longest_ns: u64) -> Option<Shape> {
    let mut one = bounded(longest_ns);
    one.saturating_record(1);
    Shape::of(EncodedHistogram::encode(&one).as_bytes(), one.distinct_values())
}

/// The error for bytes that are not a histogram.
#[derive(Debug, thiserror::Error)]
#[error("a stored histogram cannot be decoded ({0}); the run file is damaged")]
pub struct CorruptHistogram(String);

/// A histogram in HdrHistogram's V2 encoding (uncompressed), as stored in run files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodedHistogram(Vec<u8>);

impl EncodedHistogram {
    /// Encodes a histogram. An empty one becomes an empty byte string.
    pub fn encode(histogram: &Histogram) -> Self {
        let mut bytes = Vec::new();
        if !histogram.is_empty() && V2Serializer::new().serialize(histogram, &mut bytes).is_err() {
            // Writing to memory cannot fail, and the format can hold this shape.
            unreachable!("histogram encoding into memory");
        }
        Self(bytes)
    }

    /// Wraps stored bytes, without checking them.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the encoded bytes; empty for an empty histogram.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds the encoded counts to `sum`.
    ///
    /// # Errors
    /// When the bytes are not a V2 histogram, or its values do not fit `sum`.
    pub fn add_to(&self, sum: &mut Histogram) -> Result<(), CorruptHistogram> {
        if self.0.is_empty() {
            return Ok(());
        }
        let corrupt = |error: &dyn std::fmt::Display| CorruptHistogram(error.to_string());
        if let Some(counts) = SHAPES.iter().flatten().find_map(|shape| shape.counts(&self.0)) {
            let mut counts = counts.into_iter();
            return counts
                .try_for_each(|(value, count)| sum.record_n(value, count))
                .map_err(|error| corrupt(&error));
        }
        let decoded: Histogram =
            Deserializer::new().deserialize(&mut self.0.as_slice()).map_err(|error| corrupt(&error))?;
        sum.add(&decoded).map_err(|error| corrupt(&error))
    }
}

/// Serializes to base64 text, the form in which processes exchange frames.
impl Serialize for EncodedHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for EncodedHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        BASE64_STANDARD.decode(text.as_bytes()).map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_encoded_histograms_is_exact() {
        let mut one = latency_histogram();
        let mut whole = latency_histogram();
        for ns in [1, 20_000, 20_001, 412_345, 9_999_999_999] {
            one.saturating_record(ns);
            whole.saturating_record(ns);
            whole.saturating_record(ns);
        }
        let encoded = EncodedHistogram::encode(&one);
        let mut sum = latency_histogram();
        encoded.add_to(&mut sum).unwrap();
        encoded.add_to(&mut sum).unwrap();
        assert_eq!(sum, whole);
    }

    #[test]
    fn a_time_beyond_the_longest_counts_as_that_and_as_no_shorter_one() {
        for minutes in [20, 36, 37, 60, 10_000] {
            let ns: u64 = minutes * 60_000_000_000;
            let mut histogram = latency_histogram();
            histogram.saturating_record(ns);
            let [kept, right] = [histogram.value_at_quantile(0.5), ns.min(LONGEST_NS)];
            assert!(histogram.equivalent(kept, right), "{minutes} minutes: {kept}");
        }
    }

    #[test]
    fn histograms_of_older_files_have_the_same_buckets() {
        let (mut older, mut newer) = (bounded(OLDER_BOUND_NS), latency_histogram());
        for ns in [1, 20_001, 9_999_999_999, OLDER_BOUND_NS, LONGEST_NS] {
            older.saturating_record(ns);
            newer.saturating_record(ns);
        }
        let encoded = EncodedHistogram::encode(&older);
        assert!(shape(OLDER_BOUND_NS).unwrap().counts(encoded.as_bytes()).is_some());
        let mut sum = latency_histogram();
        encoded.add_to(&mut sum).unwrap();
        assert_eq!(sum, newer);
    }

    #[test]
    fn an_empty_histogram_takes_no_room() {
        let encoded = EncodedHistogram::encode(&latency_histogram());
        assert!(encoded.as_bytes().is_empty());
        encoded.add_to(&mut latency_histogram()).unwrap();
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let damaged = EncodedHistogram::from_bytes(vec![7; 40]);
        assert!(damaged.add_to(&mut latency_histogram()).is_err());
    }
}
