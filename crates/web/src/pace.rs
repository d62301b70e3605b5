//! How often something that costs is done.

use std::time::Duration;

use plimsoll_units::{Clock, Instant, RealClock};

/// At least so long from one time to the next.
const SHORTEST: Duration = Duration::from_secs(1);
/// The next time is so many times the cost of the last one later: a hundredth of the time is spent.
const COST_FACTOR: u32 = 100;

/// When something may be done again, so that it takes a hundredth of the time at most.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    next: Option<Instant>,
}

impl Pace {
    pub(crate) fn is_due(&self) -> bool {
        self.next.is_none_or(|next| RealClock.now() >= next)
    }

    /// Does it, and notes what that cost.
    pub(crate) fn spend<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = RealClock.now();
        let made = work();
        self.next = Some(began + pause(RealClock.now().since(began)));
        made
    }
}

fn pause(cost: Duration) -> Duration {
    SHORTEST.max(cost.saturating_mul(COST_FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_much_is_done_rarely() {
        assert_eq!(pause(Duration::from_millis(2)), Duration::from_secs(1));
        assert_eq!(pause(Duration::from_millis(80)), Duration::from_secs(8));
    }
}
