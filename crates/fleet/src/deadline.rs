//! How long something is waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_units::{Clock as _, Instant, RealClock};

/// How often the interrupt flag is read in a wait, and what is waited for.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The flag of a wait that no signal ends.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The flags of a user's signals. After the first one a command removes what it has started; after a second one it ends at once,
/// and leaves what it could not remove.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    pub first: Arc<AtomicBool>,
    pub second: Arc<AtomicBool>,
}

/// Until when something is waited for, unless the user ends the wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline<'a> {
    at: Instant,
    interrupted: &'a AtomicBool,
}

/// Why a wait ends without what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    Late,
    Interrupted,
}

impl<'a> Deadline<'a> {
    /// This time from now on, or until the flag is set.
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
    /// This time from now on, whatever the user does.
    pub(crate) fn uninterrupted(time: Duration) -> Self {
        Self::within(time, &NEVER)
    }
}
