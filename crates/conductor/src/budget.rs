//! The time that a run may take.

use std::time::Duration;

use plimsoll_analyze::steady::MIN_COMPLETED;
use plimsoll_units::Instant;

/// A shorter step shows too little to be worth starting.
const MIN_STEP: Duration = Duration::from_secs(2);
/// The part of the remaining time that a shortened step keeps free for the responses to its last requests.
const DRAIN: Duration = Duration::from_secs(1);

/// A step that needs longer for enough responses gets at most this many times its limit, and at most this fraction of the
/// remaining time: later steps need time too.
const MOST_TIMES: u32 = 3;
const PART_OF_REST: u32 = 4;
/// A margin, because a step's throughput may be a little lower than the highest before it.
const MARGIN: f64 = 1.2;

/// The deadline of a run, if it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    ends: Option<Instant>,
    /// The deadline of the whole run, after which requests under way are abandoned. Later than `ends` if this is a part of it.
    run_ends: Option<Instant>,
}

impl Budget {
    pub(crate) fn new(began: Instant, budget: Option<Duration>) -> Self {
        let ends = budget.map(|budget| began + budget);
        Self { ends, run_ends: ends }
    }

    /// The same budget, ending later by `time`.
    pub(crate) fn later_by(self, time: Duration) -> Self {
        Self { ends: self.ends.map(|ends| ends + time), run_ends: self.run_ends.map(|ends| ends + time) }
    }

    /// The first half of the remaining time.
    pub(crate) fn half(self, now: Instant) -> Self {
        Self { ends: self.left(now).map(|left| now + left / 2), ..self }
    }

    /// The longest time of a step that begins at `begins`: `limit`, or more if p99 needs longer at the highest throughput so far, or
    /// the remaining time less that of the last responses; `None` if too little remains. Without a budget it is `limit`.
    pub(crate) fn step(&self, begins: Instant, limit: Duration, highest_per_sec: f64) -> Option<Duration> {
        let Some(left) = self.left(begins) else { return Some(limit) };
        let most = (MOST_TIMES * limit).min(left / PART_OF_REST).max(limit);
        let needed = Duration::try_from_secs_f64(MARGIN * MIN_COMPLETED as f64 / highest_per_sec);
        let limit = needed.map_or(limit, |needed| needed.clamp(limit, most));
        // After the first half of a budget, there is still time for responses.
        let is_last = self.ends == self.run_ends;
        let longest = if is_last { left.saturating_sub(DRAIN).max(MIN_STEP.min(left)) } else { left };
        if longest >= limit { Some(limit) } else { Some(longest).filter(|longest| *longest >= MIN_STEP) }
    }

    /// The remaining time for a load that begins at `begins`, less that of the last responses; `None` without a budget.
    pub(crate) fn left_for_load(&self, begins: Instant) -> Option<Duration> {
        self.left(begins).map(|left| left.saturating_sub(DRAIN))
    }

    /// The remaining time; `None` without a budget.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        self.ends.map(|ends| ends.since(now))
    }

    /// True once the whole run's time is over.
    pub(crate) fn over(&self, now: Instant) -> bool {
        self.run_ends.is_some_and(|ends| now >= ends)
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
        assert_eq!(budget.step(began, limit, 1e3), Some(limit));
        assert_eq!(budget.step(began + Duration::from_secs(6), limit, 1e3), Some(Duration::from_secs(3)));
        assert_eq!(
            budget.step(began + Duration::from_millis(7_500), limit, 1e3),
            Some(Duration::from_secs(2))
        );
        assert_eq!(budget.step(began + Duration::from_secs(9), limit, 1e3), None);
        assert_eq!(budget.step(began + Duration::from_secs(9), DRAIN, 1e3), Some(DRAIN), "it was asked for");
        let half = Budget::new(began, Some(Duration::from_secs(20))).half(began);
        assert_eq!(half.step(began + Duration::from_secs(6), limit, 1e3), Some(Duration::from_secs(4)));
        assert!(budget.over(began + Duration::from_secs(10)));
        assert!(!budget.later_by(Duration::from_secs(1)).over(began + Duration::from_secs(10)));
        assert!(!Budget::new(began, None).over(began + Duration::from_secs(1_000_000)));
    }

    #[test]
    fn answers_are_waited_for_until_the_whole_budget_ends() {
        let began = Instant::from_nanos(7);
        let half = Budget::new(began, Some(Duration::from_secs(20))).half(began);
        let ends = began + Duration::from_secs(10);
        assert_eq!(half.left(ends), Some(Duration::ZERO));
        assert!(!half.over(ends) && half.over(ends + Duration::from_secs(10)));
    }

    #[test]
    fn a_step_of_a_slow_page_is_longer_while_there_is_time() {
        let began = Instant::from_nanos(7);
        let limit = Duration::from_secs(5);
        let step = |left_sec, per_sec| {
            let budget = Budget::new(began, Some(Duration::from_secs(left_sec)));
            budget.step(began, limit, per_sec).map(|step| step.as_secs())
        };
        assert_eq!(step(90, 1000.0), Some(5));
        assert_eq!(step(90, 47.0), Some(7), "299 answers and a margin");
        assert_eq!(step(90, 3.0), Some(15), "at most three times as long");
        assert_eq!(step(40, 3.0), Some(10), "a quarter of what is left");
        assert_eq!(step(12, 3.0), Some(5));
        assert_eq!(step(90, 0.0), Some(5), "nothing is known yet");
        assert_eq!(Budget::new(began, None).step(began, limit, 3.0), Some(limit));
    }
}
