//! An agent's clock during a step: what translates its begin, and what is wrong with it afterwards.

use std::io;

use plimsoll_conductor::peers::{Message, StepShare};
use plimsoll_units::{Instant, duration_text};

use crate::clock::{Comparison, Offset};

/// The clock as it was measured before the step that is on; nothing before the first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepClock(Option<Comparison>);

impl StepClock {
    /// The share with its instants by the agent's clock, as it was measured just now.
    pub(crate) fn begin(&mut self, measured: Comparison, share: StepShare) -> StepShare {
        self.0 = Some(measured);
        let offset = measured.offset;
        StepShare { begins: offset.to_agent(share.begins), origin: offset.to_agent(share.origin), ..share }
    }

    pub(crate) fn is_measured(self) -> bool {
        self.0.is_some()
    }

    /// That the workers have begun, at this instant of the agent.
    pub(crate) fn began(self, late_ns: u64, now: Instant) -> Message {
        let clock_error_ns = self.0.map(|measured| measured.offset.error_at(now));
        Message::Began { late_ns, clock_error_ns, wall: self.0.and_then(|measured| measured.wall) }
    }

    /// That the step cannot be begun, as the clock could not be measured.
    pub(crate) fn failed(error: &io::Error) -> Message {
        Message::Failed { why: format!("it cannot begin together with the others: {error}") }
    }

    /// What a measurement after the step says is wrong with the clock, if anything.
    pub(crate) fn fault(self, after: io::Result<Offset>) -> Option<String> {
        let before = self.0?;
        let after = match after {
            Ok(after) => after,
            Err(error) => return Some(format!("could not compare its clock after the step ({error})")),
        };
        let moved = duration_text(after.moved_since(before.offset)?.as_nanos() as f64);
        Some(format!(
            "was set, or stood still: its clock moved by {moved} during the step, and its times are wrong by that"
        ))
    }
}
