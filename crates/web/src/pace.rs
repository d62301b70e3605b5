//! Limits how often work that costs CPU time is done.

use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};
use rustix::time::{ClockId, clock_gettime};

/// The shortest time from one start of the work to the next.
const SHORTEST: Duration = Duration::from_secs(1);

/// The CPU time that the work may use: the greater of two shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Divisor of the CPU time of this process: 100 allows 1 %.
    pub process: u32,
    /// Divisor of one core's time: what the work may use even if the process does little.
    pub core: u32,
}

/// Decides when the work may be done again, so that its CPU time stays within a budget.
#[derive(Debug)]
pub(crate) struct Pace {
    budget: Budget,
    last: Option<Spent>,
}

/// The last time the work was done: when it began, the CPU time of the process until then, and the cost of the work.
#[derive(Debug, Clone, Copy)]
struct Spent {
    began: Instant,
    process: Duration,
    cost: Duration,
}

impl Pace {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, last: None }
    }

    pub(crate) fn is_due(&self) -> bool {
        self.last.is_none_or(|last| {
            let passed = RealClock.now().since(last.began);
            let used = cpu_time(ClockId::ProcessCPUTime).saturating_sub(last.process);
            passed >= SHORTEST && self.budget.allows(last.cost, used, passed)
        })
    }

    /// Does the work, and records how much CPU time it cost this thread.
    pub(crate) fn spend<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (began, process) = (RealClock.now(), cpu_time(ClockId::ProcessCPUTime));
        let before = cpu_time(ClockId::ThreadCPUTime);
        let made = work();
        let cost = cpu_time(ClockId::ThreadCPUTime).saturating_sub(before);
        self.last = Some(Spent { began, process, cost });
        made
    }
}

impl Budget {
    fn allows(self, cost: Duration, used: Duration, passed: Duration) -> bool {
        cost <= (used / self.process).max(passed / self.core)
    }
}

fn cpu_time(clock: ClockId) -> Duration {
    // The kernel gives no negative CPU times.
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_much_waits_until_others_used_much_or_long() {
        let budget = Budget { process: 200, core: 1000 };
        let (cost, idle) = (Duration::from_millis(4), Duration::from_millis(10));
        assert!(!budget.allows(cost, Duration::from_millis(700), Duration::from_secs(1)));
        assert!(budget.allows(cost, Duration::from_millis(800), Duration::from_secs(1)));
        assert!(!budget.allows(cost, idle, Duration::from_secs(3)));
        assert!(budget.allows(cost, idle, Duration::from_secs(4)));
    }
}
