//! What Plimsoll has to say about a run beside wrk's text.

use plimsoll_analyze::{GeneratorReason, analyze};
use plimsoll_record::{FailureCounts, Run};
use plimsoll_report::reason;

/// Lines for the standard error: whether this machine was the limit, and what helps against each failure.
/// Where a script has its `idles`, connections stand idle by its will.
pub(super) fn of(run: &Run, idles: bool) -> Vec<String> {
    let mut remarks: Vec<String> = generator(run, idles).into_iter().collect();
    let mut failed = FailureCounts::default();
    run.frames.iter().for_each(|frame| failed.merge(&frame.head.counts.failed));
    remarks.extend(failed.iter().map(|(kind, count)| {
        let row = kind.row();
        format!("{}, {count} times: {}; {}", row.name, row.meaning, row.remedy)
    }));
    remarks
}

/// Little's law takes every idle connection for the generator's fault.
fn generator(run: &Run, idles: bool) -> Option<String> {
    let findings = match analyze(run) {
        Ok(findings) => findings,
        Err(error) => return Some(error.to_string()),
    };
    let counts = |reason: &&GeneratorReason| !(idles && matches!(reason, GeneratorReason::LittlesLaw { .. }));
    let reasons: Vec<String> = findings.generator.reasons.iter().filter(counts).map(reason::text).collect();
    (!reasons.is_empty()).then(|| {
        format!("the load generator was the limit, so the figures are lower bounds: {}", reasons.join("; "))
    })
}
