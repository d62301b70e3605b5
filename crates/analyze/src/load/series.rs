//! Throughput over time, from the frames of one step.

use std::collections::BTreeMap;

use plimsoll_record::{FrameHead, Phase};
use plimsoll_stats::{Weighted, batch_means, median};

/// One interval of a step, over all workers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Point {
    /// Number of the interval within the step.
    pub(crate) interval: u32,
    /// When the first worker's frame began, in nanoseconds since the run began.
    pub(crate) began_ns: u64,
    /// Mean length of the workers' frames, in seconds.
    pub(crate) span_sec: f64,
    pub(crate) rate_per_sec: f64,
    pub(crate) completed: u64,
    /// Requests due or sent but not ended at the end of the interval.
    pub(crate) queue: u64,
}

/// A point is weighted by its length.
impl Weighted for Point {
    fn value(&self) -> f64 {
        self.rate_per_sec
    }

    fn weight(&self) -> f64 {
        self.span_sec
    }
}

impl Point {
    /// Adds a frame. `span_sec` is the sum of the workers' frames until it is divided by their number.
    fn add(&mut self, head: &FrameHead) {
        if head.of_worker() {
            self.began_ns = self.began_ns.min(head.began_ns);
            self.span_sec += head.span_sec();
        }
        self.rate_per_sec += head.counts.completed as f64 / head.span_sec();
        self.completed += head.counts.completed;
        self.queue += head.in_flight + head.backlog;
    }
}

/// The intervals of one step for which each of `workers` handed over a frame, in order.
///
/// Each worker's completed requests are divided by the length of its own frame, because a late
/// hand-over makes one frame of two intervals. A last frame that the end of the step cut to less than
/// half the usual length is left out: its few requests would scatter more than all others.
pub(crate) fn series<'a>(heads: impl IntoIterator<Item = &'a FrameHead>, workers: usize) -> Vec<Point> {
    let mut intervals: BTreeMap<u32, (usize, Point)> = BTreeMap::new();
    for head in heads.into_iter().filter(|head| head.phase == Phase::Measure && head.ended_ns > head.began_ns)
    {
        let new = || (0, Point { interval: head.interval, began_ns: u64::MAX, ..Point::default() });
        let (frames, point) = intervals.entry(head.interval).or_insert_with(new);
        *frames += usize::from(head.of_worker());
        point.add(head);
    }
    let complete = intervals.into_values().filter(|(frames, _)| *frames == workers);
    let mean = |(frames, point): (usize, Point)| Point { span_sec: point.span_sec / frames as f64, ..point };
    let mut points: Vec<Point> = complete.map(mean).collect();
    let usual_sec = median(points.iter().map(|point| point.span_sec).collect()).unwrap_or(0.0);
    if points.last().is_some_and(|last| last.span_sec < usual_sec / 2.0) {
        points.pop();
    }
    points
}

/// Half the width of the 95 % interval of the mean rate. `None` with fewer than ten points, and without any completed request: a
/// lack of answers does not show that the rate is exactly 0.
pub(crate) fn half_width(points: &[Point]) -> Option<f64> {
    points.iter().any(|point| point.completed > 0).then(|| batch_means::half_width(points))?
}

#[cfg(test)]
pub(crate) mod tests {
    use plimsoll_record::{Counts, WorkerTime};

    use super::*;

    /// Points of 50 ms with these rates and no queue.
    pub(crate) fn points_at(rates: &[f64]) -> Vec<Point> {
        let point = |(index, rate): (usize, &f64)| Point {
            interval: index as u32,
            began_ns: index as u64 * 50_000_000,
            span_sec: 0.05,
            rate_per_sec: *rate,
            completed: (rate * 0.05) as u64,
            queue: 0,
        };
        rates.iter().enumerate().map(point).collect()
    }

    fn head(worker: u32, interval: u32, span_ms: u64, completed: u64) -> FrameHead {
        let began_ns = u64::from(interval) * 100_000_000;
        FrameHead {
            step: 0,
            worker,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns,
            ended_ns: began_ns + span_ms * 1_000_000,
            counts: Counts { completed, ..Counts::default() },
            in_flight: 1,
            backlog: 2,
            connections: 1,
            time: WorkerTime::default(),
        }
    }

    #[test]
    fn a_late_frame_does_not_look_like_twice_the_throughput() {
        let heads = [
            head(0, 0, 200, 200),
            head(1, 0, 100, 100),
            head(1, 1, 100, 100),
            head(0, 2, 100, 100),
            head(1, 2, 100, 100),
        ];
        let points = series(&heads, 2);
        assert_eq!(points.iter().map(|point| point.interval).collect::<Vec<_>>(), [0, 2]);
        assert!(points.iter().all(|point| (point.rate_per_sec - 2000.0).abs() < 1e-9));
        assert_eq!(points[0].queue, 6);
    }

    #[test]
    fn the_frames_of_other_requests_add_to_their_workers() {
        let of_request =
            |request, interval| FrameHead { request, in_flight: 0, backlog: 0, ..head(0, interval, 100, 10) };
        let alone: Vec<FrameHead> = (0..3).map(|interval| head(0, interval, 100, 10)).collect();
        let mut heads = alone.clone();
        heads.extend((0..3).map(|interval| of_request(1, interval)));
        heads.push(of_request(2, 1));
        let rates = |heads: &[FrameHead]| -> Vec<(f64, f64, u64)> {
            let points = series(heads, 1);
            points.iter().map(|point| (point.rate_per_sec, point.span_sec, point.queue)).collect()
        };
        assert_eq!(rates(&alone), [(100.0, 0.1, 3); 3]);
        assert_eq!(rates(&heads), [(200.0, 0.1, 3), (300.0, 0.1, 3), (200.0, 0.1, 3)]);
    }

    #[test]
    fn the_stump_at_the_end_and_the_drain_are_no_intervals() {
        let mut heads: Vec<FrameHead> = (0..5).map(|interval| head(0, interval, 100, 10)).collect();
        heads.push(head(0, 5, 3, 4));
        heads.push(FrameHead { phase: Phase::Drain, ..head(0, 6, 100, 5) });
        assert_eq!(series(&heads, 1).len(), 5);
    }

    #[test]
    fn too_few_intervals_or_no_answer_give_no_interval() {
        assert_eq!(half_width(&points_at(&[100.0; 9])), None);
        assert_eq!(half_width(&points_at(&[0.0; 50])), None);
        assert_eq!(half_width(&points_at(&[100.0; 50])), Some(0.0));
    }
}
