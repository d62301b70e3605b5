//! What a run says while it goes on: wrk's heading, and events on the standard error.

use plimsoll_conductor::{Observer, Progress};
use plimsoll_record::EventKind;
use plimsoll_units::escape_control;

use super::Streams;
use crate::options::Options;
use crate::text;

/// Tells a run's progress as wrk does.
pub(super) struct Narration<'a, 'b> {
    options: &'a Options,
    streams: &'a mut Streams<'b>,
}

impl<'a, 'b> Narration<'a, 'b> {
    pub(super) fn new(options: &'a Options, streams: &'a mut Streams<'b>) -> Self {
        Self { options, streams }
    }
}

impl Observer for Narration<'_, '_> {
    fn observe(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::StepBegan { .. } => self.streams.print(&text::heading(self.options)),
            // The remarks after the text name each failure, what helps against it and how many there were.
            Progress::Happened(event) if event.kind == EventKind::FailureSeen => {}
            Progress::Happened(event) => self.streams.remark(&escape_control(&event.text)),
            _ => {}
        }
    }
}
