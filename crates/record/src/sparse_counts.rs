//! Decodes the counts of an encoded histogram, skipping its thousands of empty bins.
//!
//! The library decodes all bins and then adds bin by bin. But one second of one worker fills about a hundred of twenty thousand bins, and
//! an analysis adds thousands of such histograms.

use std::ops::Range;

/// The length of the header of HdrHistogram's V2 encoding in bytes, and the range of its length field.
const HEADER: usize = 40;
const LENGTH: Range<usize> = 4..8;
/// The number of bins per power of two, for three significant digits. The lowest values have twice as many, one for each value.
const BINS_LOG2: u32 = 10;
const BINS: u64 = 1 << BINS_LOG2;
/// The library gives the ninth byte of a number a special meaning; no count is that large.
const NUMBER_BYTES_MAX: usize = 8;

/// The common header and bin count of encoded histograms with the same bounds.
#[derive(Debug)]
pub(crate) struct Shape {
    header: [u8; HEADER],
    bins: u64,
}

impl Shape {
    /// Returns the shape of an encoded histogram of three significant digits, from 1, with `bins` bins; `None` if it has no header.
    pub(crate) fn of(encoded: &[u8], bins: usize) -> Option<Self> {
        Some(Self { header: *encoded.first_chunk()?, bins: bins as u64 })
    }

    /// Returns the lowest value of each non-empty bin with its count; `None` unless `encoded` is a complete histogram of this shape.
    pub(crate) fn counts(&self, encoded: &[u8]) -> Option<Vec<(u64, u64)>> {
        let mut rest = self.after_header(encoded)?;
        let mut counts = Vec::new();
        let mut bin = 0_u64;
        while !rest.is_empty() {
            let number = number(&mut rest)?;
            match u64::try_from(number) {
                Ok(0) => bin += 1,
                Ok(count) if bin < self.bins => {
                    counts.push((lowest_value(bin), count));
                    bin += 1;
                }
                Ok(_) => return None,
                Err(_) => bin = bin.checked_add(number.unsigned_abs())?,
            }
        }
        (bin <= self.bins).then_some(counts)
    }

    fn after_header<'a>(&self, encoded: &'a [u8]) -> Option<&'a [u8]> {
        let (header, rest) = encoded.split_first_chunk::<HEADER>()?;
        let length = u32::from_be_bytes(header[LENGTH].try_into().ok()?);
        let is_known = |range: Range<usize>| header[range.clone()] == self.header[range];
        let is_whole = length as usize == rest.len();
        (is_whole && is_known(0..LENGTH.start) && is_known(LENGTH.end..HEADER)).then_some(rest)
    }
}

/// Parses a number in zigzag LEB128: a count, or if negative, a number of empty bins. A single empty bin is a zero.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for at in 0..NUMBER_BYTES_MAX {
        let byte = *rest.get(at)?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

fn lowest_value(bin: u64) -> u64 {
    match (bin >> BINS_LOG2).checked_sub(1) {
        None => bin,
        Some(bucket) => (BINS + bin % BINS) << bucket,
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};

    use super::*;

    fn empty() -> Histogram<u64> {
        Histogram::new_with_bounds(1, 1 << 40, 3).unwrap()
    }

    fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    fn shape() -> Shape {
        Shape::of(&encoded(&empty()), empty().distinct_values()).unwrap()
    }

    #[test]
    fn counts_are_those_that_the_library_decodes() {
        let mut histogram = empty();
        let mut value = 0_u64;
        for number in 0..300_u64 {
            histogram.saturating_record_n(value, number * number * number + 1);
            value = (value * 9 / 8 + number).min(1 << 41);
        }
        let bytes = encoded(&histogram);
        let decoded: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        let bins = decoded.iter_recorded();
        let lowest = |value| decoded.lowest_equivalent(value);
        let of_library: Vec<(u64, u64)> =
            bins.map(|bin| (lowest(bin.value_iterated_to()), bin.count_at_value())).collect();
        assert_eq!(shape().counts(&bytes).unwrap(), of_library);
    }

    #[test]
    fn what_is_not_whole_or_of_another_shape_has_no_counts() {
        let mut histogram = empty();
        histogram.saturating_record_n(70_000, 300);
        let whole = encoded(&histogram);
        assert_eq!(shape().counts(&whole), Some(vec![(histogram.lowest_equivalent(70_000), 300)]));
        (0..whole.len()).for_each(|length| assert_eq!(shape().counts(&whole[..length]), None, "{length}"));
        let mut of_two_digits = Histogram::<u64>::new_with_bounds(1, 1 << 40, 2).unwrap();
        of_two_digits.saturating_record(5);
        assert_eq!(shape().counts(&encoded(&of_two_digits)), None);
        let mut beyond = [&whole[..HEADER], &[0xff, 0xff, 0x7f, 2]].concat();
        beyond[LENGTH].copy_from_slice(&4_u32.to_be_bytes());
        assert_eq!(shape().counts(&beyond), None);
    }
}
