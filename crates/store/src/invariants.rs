//! What is true of every run, whatever its file says.

use std::collections::BTreeSet;

use plimsoll_record::{EventKind, FrameHead, Run};

use crate::digest::REPLACED;

/// Checks what a run holds; gives what cannot be true.
pub(crate) fn check(run: &Run) -> Result<(), String> {
    if let Some(damage) =
        run.damage.iter().find(|damage| REPLACED.iter().any(|part| part.table == damage.table))
    {
        return Err(format!(
            "the table `{}` does not match its digest, so that nothing can be trusted",
            damage.table
        ));
    }
    if run.steps.is_empty() && run.damage.iter().any(|damage| !damage.steps.is_empty()) {
        return Err("frames of every step do not match their digests".to_owned());
    }
    run.frames.iter().try_for_each(|frame| check_frame(&frame.head))?;
    check_frames_are_of_steps(run)?;
    check_frames_are_unique(run)?;
    check_sums(run)
}

fn check_frame(head: &FrameHead) -> Result<(), String> {
    let counts = &head.counts;
    let by_status: u64 = counts.status.iter().map(|(_, count)| count).sum();
    let wrong = match () {
        () if head.ended_ns < head.began_ns => "ends before it begins",
        () if counts.ok > counts.completed => "has more successes than responses",
        () if by_status != counts.completed => "has other numbers of responses by status and in all",
        () => return Ok(()),
    };
    let FrameHead { step, worker, interval, .. } = head;
    Err(format!("the frame of worker {worker} in interval {interval} of step {step} {wrong}"))
}

fn check_frames_are_of_steps(run: &Run) -> Result<(), String> {
    let steps: BTreeSet<u32> = run.steps.iter().map(|step| step.index).collect();
    match run.frames.iter().find(|frame| !steps.contains(&frame.head.step)) {
        Some(frame) => Err(format!("a frame belongs to step {}, which is not there", frame.head.step)),
        None => Ok(()),
    }
}

fn check_frames_are_unique(run: &Run) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for FrameHead { step, worker, request, interval, phase, .. } in run.frames.iter().map(|frame| &frame.head)
    {
        if !seen.insert((step, worker, request, interval, *phase as u8)) {
            return Err(format!("worker {worker} has two frames of interval {interval} of step {step}"));
        }
    }
    Ok(())
}

/// In a run that ended in order every request that was due is accounted for, but for those of workers that were left.
fn check_sums(run: &Run) -> Result<(), String> {
    let left = run.events.iter().any(|event| event.kind == EventKind::StepFailed);
    if !run.manifest.sealed || left {
        return Ok(());
    }
    for step in &run.steps {
        let counts = || run.frames_of(step.index).map(|frame| &frame.head.counts);
        let due: u64 = counts().map(|counts| counts.intended).sum();
        let ended: u64 = counts().map(|counts| counts.completed + counts.failed.total()).sum();
        if due != ended {
            return Err(format!("of {due} requests of step {}, {ended} ended", step.index));
        }
    }
    Ok(())
}
