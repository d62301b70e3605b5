//! What reading a host may cost, and what it does cost.

use std::time::Duration;

use plimsoll_units::Instant;
use rustix::time::{ClockId, clock_gettime};

/// Paces work that grows with the host: at least `interval` between two times, and at most one part in `parts` of the
/// time. What costs little on most machines costs much where there are thousands of processes or sockets.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Duration,
    parts: u32,
    due: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(interval: Duration, parts: u32) -> Self {
        Self { interval, parts, due: None }
    }

    /// Whether the work may be done now; the first time always.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// Records that the work was begun at an instant and took so much CPU time. On a busy host it may take far longer by the
    /// clock, and costs no more.
    pub(crate) fn done(&mut self, began: Instant, cpu: Duration) {
        self.due = Some(began + self.after(cpu));
    }

    /// How long after its beginning work that took so much CPU time may be done again.
    pub(crate) fn after(&self, took: Duration) -> Duration {
        self.interval.max(took * self.parts)
    }
}

/// The CPU time that the calling thread has used since it began.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel never gives negative CPU times, so that both casts keep the value.
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
        pace.done(began, Duration::from_millis(30));
        assert!(!pace.is_due(began + Duration::from_millis(2_999)));
        assert!(pace.is_due(began + Duration::from_secs(3)));
    }
}
