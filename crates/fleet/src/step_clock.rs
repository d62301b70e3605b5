//! An agent's clock during a step: translates the start of the step, and detects faults of the clock afterwards.

use std::io;

use plimsoll_conductor::peers::{Message, StepShare};
use plimsoll_units::{Instant, duration_text};

use crate::clock::{Comparison, Offset};

/// The clock comparison of the current step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepClock {
    /// `None` before the first step.
    measured: Option<Comparison>,
    /// How many conductors, each with another clock, have resumed the run since it began here.
    successors: u32,
}

impl StepClock {
    /// Discards the measurement: another conductor, with another clock, resumes the run.
    pub(crate) fn forget(&mut self) {
        *self = Self { measured: None, successors: self.successors + 1 };
    }

    /// True if no other conductor has come since `earlier`, so that all instants are of one clock.
    pub(crate) fn is_of_same_conductor(self, earlier: Self) -> bool {
        self.successors == earlier.successors
    }

    /// Translates the instants of a share to the agent's clock, as `measured` just now.
    pub(crate) fn begin(&mut self, measured: Comparison, share: StepShare) -> StepShare {
        self.measured = Some(measured);
        let offset = measured.offset;
        StepShare { begins: offset.to_agent(share.begins), origin: offset.to_agent(share.origin), ..share }
    }

    pub(crate) fn is_measured(self) -> bool {
        self.measured.is_some()
    }

    /// Reports that the workers have begun, at this instant of the agent.
    pub(crate) fn began(self, late_ns: u64, now: Instant) -> Message {
        let clock_error_ns = self.measured.map(|measured| measured.offset.error_at(now));
        Message::Began { late_ns, clock_error_ns, wall: self.measured.and_then(|measured| measured.wall) }
    }

    /// Reports that the step is skipped: its start is an instant of a conductor that has died.
    pub(crate) fn succeeded(share: &StepShare) -> Message {
        let fault = Some("did not begin the step, as its conductor died just then".to_owned());
        Message::Ended { step: Some(share.step.index), fault }
    }

    /// Reports that the step cannot begin, because the clock could not be measured.
    pub(crate) fn failed(error: &io::Error) -> Message {
        Message::Failed { why: format!("it cannot begin together with the others: {error}") }
    }

    /// Compares with a measurement after the step. Returns what is wrong with the clock, if anything.
    pub(crate) fn fault(self, after: io::Result<Offset>) -> Option<String> {
        let before = self.measured?;
        let after = match after {
            Ok(after) => after,
            // The conductor is gone, which says nothing about this clock.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return None,
            Err(error) => return Some(format!("could not compare its clock after the step ({error})")),
        };
        let moved = duration_text(after.moved_since(before.offset)?.as_nanos() as f64);
        Some(format!(
            "was set, or stood still: its clock moved by {moved} during the step, and its times are wrong by that"
        ))
    }
}
