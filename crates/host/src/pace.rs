//! How often something costly may be done.

use std::time::Duration;

use plimsoll_units::Instant;

/// Lets something be done every `least`, and so rarely that it takes no more than one part in `parts` of the time:
/// what costs little on most machines costs much where there are thousands of processes or sockets.
#[derive(Debug)]
pub(crate) struct Pace {
    least: Duration,
    parts: u32,
    due: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(least: Duration, parts: u32) -> Self {
        Self { least, parts, due: None }
    }

    /// Whether it may be done now; the first time always.
    pub(crate) fn due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// It was done from `began` to `ended`.
    pub(crate) fn done(&mut self, began: Instant, ended: Instant) {
        self.due = Some(began + self.after(ended.since(began)));
    }

    /// How long after its beginning something that took so long may be done again.
    pub(crate) fn after(&self, took: Duration) -> Duration {
        self.least.max(took * self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_is_done_more_rarely() {
        let mut pace = Pace::new(Duration::from_secs(1), 100);
        let began = Instant::default();
        assert!(pace.due(began));
        pace.done(began, began + Duration::from_millis(1));
        assert!(!pace.due(began + Duration::from_millis(999)) && pace.due(began + Duration::from_secs(1)));
        pace.done(began, began + Duration::from_millis(30));
        assert!(!pace.due(began + Duration::from_millis(2_999)) && pace.due(began + Duration::from_secs(3)));
    }
}
