//! Time limits of waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_units::{Clock as _, Instant, RealClock};

/// How often a wait checks the interrupt flag and its condition.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The flag of a wait that no signal interrupts.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The flags of a user's signals. After the first one a command removes what it has started; after a second one it ends at once,
/// and leaves what it could not remove.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    pub first: Arc<AtomicBool>,
    pub second: Arc<AtomicBool>,
}

/// The time limit of a wait, which the user may interrupt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline<'a> {
    at: Instant,
    interrupted: &'a AtomicBool,
}

/// Why a wait ended without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    Late,
    Interrupted,
}

impl<'a> Deadline<'a> {
    /// Creates a deadline after `time`, or when the flag is set.
    pub(crate) fn within(time: Duration, interrupted: &'a AtomicBool) -> Self {
        Self { at: RealClock.now() + time, interrupted }
    }

    /// Why the wait is over; `None` while it is not.
    pub(crate) fn overdue(self) -> Option<Overdue> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Overdue::Interrupted);
        }
        (RealClock.now() > self.at).then_some(Overdue::Late)
    }
}

impl Deadline<'static> {
    /// Creates a deadline after `time`, which the user cannot interrupt.
    pub(crate) fn uninterrupted(time: Duration) -> Self {
        Self::within(time, &NEVER)
    }
}
