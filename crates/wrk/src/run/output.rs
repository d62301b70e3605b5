//! What a run prints during the load and after wrk's text: its heading, events and remarks.

use std::io::Write;

use plimsoll_analyze::{GeneratorReason, analyze};
use plimsoll_conductor::{Observer, Progress};
use plimsoll_record::{FailureCounts, Run};
use plimsoll_report::words;
use plimsoll_units::{best_effort, escape_control};

use crate::options::Options;
use crate::text;

/// The output streams of a run. As with wrk, a reader that goes away does not end the run.
pub struct Streams<'a> {
    /// Standard output: wrk's text.
    pub out: &'a mut dyn Write,
    /// Standard error: wrk's messages, and Plimsoll's own.
    pub err: &'a mut dyn Write,
}

impl Streams<'_> {
    pub(super) fn print(&mut self, text: &str) {
        say(self.out, text);
    }

    /// Prints complete lines on standard error, as they are.
    pub(super) fn print_error(&mut self, lines: &str) {
        say(self.err, lines);
    }

    /// Prints a line of Plimsoll's own on standard error.
    pub(super) fn remark(&mut self, text: &str) {
        self.print_error(&format!("plimsoll: {text}\n"));
    }
}

/// Writes and flushes at once, so that a script's own output appears in the right order.
fn say(stream: &mut dyn Write, text: &str) {
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    best_effort(written, "the reader of the output has gone away, and there is no other place to report it");
}

/// Prints wrk's heading and the events of a run.
pub(super) struct Narration<'a, 'b> {
    pub(super) options: &'a Options,
    pub(super) streams: &'a mut Streams<'b>,
}

impl Observer for Narration<'_, '_> {
    fn observe(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::StepBegan { .. } => self.streams.print(&text::heading(self.options)),
            Progress::Happened(event) => self.streams.remark(&escape_control(&event.text)),
            // The remarks after the text name each failure with its count and a remedy.
            _ => {}
        }
    }
}

/// Returns lines for standard error: whether this machine was the limit, and a remedy for each failure. `idles` is true
/// if the script itself left connections idle.
pub(super) fn remarks(run: &Run, idles: bool) -> Vec<String> {
    let mut remarks: Vec<String> = generator(run, idles).into_iter().collect();
    let mut failed = FailureCounts::default();
    run.frames.iter().for_each(|frame| failed.merge(&frame.head.counts.failed));
    remarks.extend(failed.iter().map(|(kind, count)| {
        let (meaning, remedy) = (words::failure_meaning(kind), words::failure_remedy(kind, false));
        format!("{}, {count} times: {meaning}; {remedy}", kind.name())
    }));
    remarks
}

/// Returns why this machine was the limit, if it was. Connections that the script left idle would fail the check by
/// Little's law, so it does not count then.
fn generator(run: &Run, idles: bool) -> Option<String> {
    let findings = match analyze(run) {
        Ok(findings) => findings,
        Err(error) => return Some(error.to_string()),
    };
    let counts = |reason: &&GeneratorReason| !(idles && matches!(reason, GeneratorReason::LittlesLaw { .. }));
    let reasons: Vec<String> = findings.generator.reasons.iter().filter(counts).map(words::reason).collect();
    (!reasons.is_empty()).then(|| {
        format!("the load generator was the limit, so the figures are lower bounds: {}", reasons.join("; "))
    })
}
