//! The time a run may take.

use std::time::Duration;

use plimsoll_units::Instant;

/// A step shorter than this shows too little to be worth beginning.
const MIN_STEP: Duration = Duration::from_secs(2);

/// When the run must be over, if it must.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    ends: Option<Instant>,
}

impl Budget {
    pub(crate) fn new(began: Instant, budget: Option<Duration>) -> Self {
        Self { ends: budget.map(|budget| began + budget) }
    }

    /// The same, ending so much later.
    pub(crate) fn later_by(self, time: Duration) -> Self {
        Self { ends: self.ends.map(|ends| ends + time) }
    }

    /// How long a step may take that begins now: `limit`, or what is left; `None` if too little is.
    pub(crate) fn step(&self, now: Instant, limit: Duration) -> Option<Duration> {
        let Some(ends) = self.ends else { return Some(limit) };
        let left = ends.since(now);
        if left >= limit { Some(limit) } else { Some(left).filter(|left| *left >= MIN_STEP) }
    }

    /// True once nothing of it is left.
    pub(crate) fn over(&self, now: Instant) -> bool {
        self.ends.is_some_and(|ends| now >= ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_is_shortened_and_a_hopeless_one_not_begun() {
        let began = Instant::from_nanos(7);
        let budget = Budget::new(began, Some(Duration::from_secs(10)));
        let limit = Duration::from_secs(6);
        assert_eq!(budget.step(began, limit), Some(limit));
        assert_eq!(budget.step(began + Duration::from_secs(7), limit), Some(Duration::from_secs(3)));
        assert_eq!(budget.step(began + Duration::from_secs(9), limit), None);
        assert!(budget.over(began + Duration::from_secs(10)));
        assert!(!budget.later_by(Duration::from_secs(1)).over(began + Duration::from_secs(10)));
        assert!(!Budget::new(began, None).over(began + Duration::from_secs(1_000_000)));
    }
}
