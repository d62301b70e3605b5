//! Limits on the CPU time that reading a host takes.

use std::time::Duration;

use plimsoll_units::Instant;
use rustix::time::{ClockId, clock_gettime};

/// Work done with each sample may take 1/50 of the time.
const SAMPLE_PARTS: u32 = 50;
/// Unused time of that share accumulates over at most this period.
const SAMPLE_SAVED: Duration = Duration::from_secs(10);

/// Paces work whose cost grows with the host: at least `interval` between two starts, and at most 1/`parts` of the time. Work that
/// is cheap on most machines is expensive with thousands of processes or sockets.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Duration,
    parts: u32,
    /// Unused time of the share accumulates over at most this period.
    saved: Duration,
    due: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(interval: Duration, parts: u32) -> Self {
        Self { interval, parts, saved: Duration::ZERO, due: None }
    }

    /// Paces work that belongs to each sample. Samples are also taken between two seconds, at both ends of a step. Work within its
    /// share is never skipped there, because unused time accumulates.
    pub(crate) fn of_each_sample() -> Self {
        Self { saved: SAMPLE_SAVED, ..Self::new(Duration::ZERO, SAMPLE_PARTS) }
    }

    /// Whether the work may be done now; true before the first time.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// Records when the work began, and the CPU time that it took. CPU time is the cost: on a busy host the work may take far longer by
    /// the clock without costing more.
    pub(crate) fn done(&mut self, began: Instant, cpu: Duration) {
        let saved_from = began - self.saved;
        let from = self.due.map_or(saved_from, |due| due.max(saved_from));
        self.due = Some(from + self.after(cpu));
    }

    /// Returns the time from the beginning of work that took this much CPU time until it may begin again.
    pub(crate) fn after(&self, took: Duration) -> Duration {
        self.interval.max(took * self.parts)
    }
}

/// Returns the CPU time that the calling thread has used since it began.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel never reports negative CPU times, so both casts keep the value.
    Duration::from_secs(time.tv_sec.cast_unsigned()) + Duration::from_nanos(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_costs_more_is_done_more_rarely() {
        let mut pace = Pace::new(Duration::from_secs(1), 100);
        let began = Instant::default();
        assert!(pace.is_due(began));
        pace.done(began, Duration::from_millis(1));
        assert!(!pace.is_due(began + Duration::from_millis(999)));
        assert!(pace.is_due(began + Duration::from_secs(1)));
        let began = began + Duration::from_secs(1);
        pace.done(began, Duration::from_millis(30));
        assert!(!pace.is_due(began + Duration::from_millis(2_999)));
        assert!(pace.is_due(began + Duration::from_secs(3)));
    }

    #[test]
    fn work_within_its_share_is_done_at_any_time_and_more_is_done_once_it_is_due_again() {
        let mut pace = Pace::of_each_sample();
        let second = |sec: u64| Instant::from_nanos(sec * 1_000_000_000);
        for sec in 100..200 {
            assert!(pace.is_due(second(sec)), "{sec}");
            pace.done(second(sec), Duration::from_millis(19));
            assert!(pace.is_due(second(sec)), "once more in second {sec}");
        }
        let done: Vec<u64> = (200..220)
            .filter(|sec| {
                let is_due = pace.is_due(second(*sec));
                if is_due {
                    pace.done(second(*sec), Duration::from_millis(100));
                }
                is_due
            })
            .collect();
        assert_eq!(done, [200, 201, 202, 205, 210, 215], "what was saved, and then each five seconds");
    }
}
