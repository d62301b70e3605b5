//! Sums over the frames of a step: rates, counts and histograms.

use std::collections::BTreeMap;

use plimsoll_record::{
    CorruptHistogram, Counts, EncodedHistogram, Frame, FrameHead, Histogram, latency_histogram,
};

/// A count per second: each worker's count over the length of its own frames, summed over workers. The frames of a worker's other
/// requests share these lengths, so that `heads` must include all of them or none.
pub(crate) fn per_second<'a>(
    heads: impl IntoIterator<Item = &'a FrameHead>,
    count: impl Fn(&FrameHead) -> u64,
) -> f64 {
    let mut by_worker: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for head in heads {
        let (sum, span_sec) = by_worker.entry(head.worker).or_default();
        *sum += count(head);
        if head.of_worker() {
            *span_sec += head.span_sec();
        }
    }
    by_worker
        .values()
        .filter(|(_, span_sec)| *span_sec > 0.0)
        .map(|(sum, span_sec)| *sum as f64 / span_sec)
        .sum()
}

/// The sum of the counts of these frames.
pub(crate) fn counts_of<'a>(heads: impl IntoIterator<Item = &'a FrameHead>) -> Counts {
    let mut sum = Counts::default();
    heads.into_iter().for_each(|head| sum.merge(&head.counts));
    sum
}

/// Merges one histogram of each of these frames.
pub(crate) fn merged<'a>(
    frames: impl IntoIterator<Item = &'a Frame>,
    which: impl Fn(&Frame) -> &EncodedHistogram,
) -> Result<Histogram, CorruptHistogram> {
    let mut sum = latency_histogram();
    frames.into_iter().try_for_each(|frame| which(frame).add_to(&mut sum))?;
    Ok(sum)
}
