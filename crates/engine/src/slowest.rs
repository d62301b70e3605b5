//! Selects the traced requests that a worker keeps: the slowest of the step, and the first ones without success.
//!
//! With each frame a worker hands over the requests that are among the slowest of the step so far. These include the slowest of
//! the whole step, so a reader of all frames finds them, and the memory is bounded however long the step is.

use plimsoll_record::Trace;

/// How many requests of each kind a step keeps.
pub(crate) const KEPT: usize = 10;

/// The traces of one frame.
#[derive(Debug)]
pub(crate) struct FrameTraces {
    slow: Vec<Trace>,
    unsuccessful: Vec<Trace>,
}

impl FrameTraces {
    pub(crate) fn new() -> Self {
        Self { slow: Vec::with_capacity(KEPT), unsuccessful: Vec::with_capacity(KEPT) }
    }

    pub(crate) fn clear(&mut self) {
        self.slow.clear();
        self.unsuccessful.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Trace> {
        self.slow.iter().chain(&self.unsuccessful)
    }
}

/// The state that a worker keeps for the whole step.
#[derive(Debug)]
pub(crate) struct StepTraces {
    /// The longest latencies so far, in nanoseconds.
    slowest_ns: Vec<u64>,
    /// Number of requests without success that were kept.
    unsuccessful: usize,
}

impl StepTraces {
    pub(crate) fn new() -> Self {
        Self { slowest_ns: Vec::with_capacity(KEPT), unsuccessful: 0 }
    }

    /// Adds a request that has ended to the frame, unless enough slower or earlier ones are kept.
    pub(crate) fn add(&mut self, trace: Trace, frame: &mut FrameTraces) {
        let ns = |latency: &u64| *latency;
        let is_slow = trace.latency_ns.is_some_and(|latency_ns| keep(&mut self.slowest_ns, latency_ns, ns));
        if is_slow && trace.ok {
            keep(&mut frame.slow, trace, |kept| kept.latency_ns.unwrap_or(0));
        }
        if !trace.ok && (is_slow || self.unsuccessful < KEPT) {
            self.keep_unsuccessful(trace, frame);
        }
    }

    /// Keeps the first requests without success because they are early, and later ones only because they are slow.
    fn keep_unsuccessful(&mut self, trace: Trace, frame: &mut FrameTraces) {
        if self.unsuccessful < KEPT {
            self.unsuccessful += 1;
            frame.unsuccessful.push(trace);
        } else {
            keep(&mut frame.slow, trace, |kept| kept.latency_ns.unwrap_or(0));
        }
    }
}

/// Inserts a value among the [`KEPT`] largest by `key`; returns false if it is not among them.
fn keep<T>(largest: &mut Vec<T>, value: T, key: impl Fn(&T) -> u64) -> bool {
    if largest.len() < KEPT {
        largest.push(value);
        return true;
    }
    match largest.iter_mut().min_by_key(|kept| key(kept)) {
        Some(least) if key(least) < key(&value) => {
            *least = value;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{FailureKind, TraceId};

    use super::*;

    fn answered(latency_ns: u64, ok: bool) -> Trace {
        let status = Some(if ok { 200 } else { 500 });
        let id = TraceId(latency_ns.into());
        Trace { id, request: 0, sent_ns: 0, latency_ns: Some(latency_ns), status, failure: None, ok }
    }

    /// What is handed over of these in frames of this many requests.
    fn handed_over(traces: impl Iterator<Item = Trace>, in_frame: usize) -> Vec<Trace> {
        let (mut step, mut frame, mut kept) = (StepTraces::new(), FrameTraces::new(), Vec::new());
        for (number, trace) in traces.enumerate() {
            step.add(trace, &mut frame);
            if number % in_frame == in_frame - 1 {
                kept.extend(frame.iter().copied());
                frame.clear();
            }
        }
        kept
    }

    #[test]
    fn the_slowest_of_a_step_are_handed_over_whatever_the_frames() {
        // 571 and 1009 have no common factor, so each latency comes once.
        for in_frame in [1, 10, 1009] {
            let traces = (1..=1009_u64).map(|n| answered(n * 571 % 1009 + 1, true));
            let mut kept: Vec<u64> =
                handed_over(traces, in_frame).iter().filter_map(|trace| trace.latency_ns).collect();
            kept.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(kept[..KEPT], [1009, 1008, 1007, 1006, 1005, 1004, 1003, 1002, 1001, 1000]);
            assert!(kept.len() < 150, "{}", kept.len());
        }
    }

    #[test]
    fn the_first_without_success_are_kept_and_each_once() {
        let traces = (0..100).map(|n| answered(1000 - n, n % 2 == 0));
        let kept = handed_over(traces, 100);
        let unsuccessful: Vec<_> =
            kept.iter().filter(|trace| !trace.ok).filter_map(|trace| trace.latency_ns).collect();
        assert_eq!(unsuccessful, [999, 997, 995, 993, 991, 989, 987, 985, 983, 981]);
        let mut ids: Vec<_> = kept.iter().map(|trace| trace.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), kept.len());
    }

    #[test]
    fn one_whose_connection_failed_is_kept_without_a_latency() {
        let failure = Some(FailureKind::ClosedBeforeResponse);
        let trace = Trace { latency_ns: None, status: None, failure, ..answered(1, false) };
        assert_eq!(handed_over([trace].into_iter(), 1), [trace]);
    }
}
