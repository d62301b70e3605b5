//! Conditions that hold for every run, which damaged or forged files may violate.

use std::collections::BTreeSet;

use plimsoll_record::{EventKind, FrameHead, Run};

use crate::verify;

/// About two years in nanoseconds. A load lasts a year at most.
const MAX_INSTANT_NS: u64 = 1 << 56;
/// The maximum of the sum of a count over all frames of a run. An f64 holds it exactly, and no sum of instants or counts overflows.
const MAX_COUNT: u64 = 1 << 53;
/// The maximum of the sum of a CPU time (ns) or of bytes over all frames: 73 years of CPU time, two exabytes. A large fleet exceeds
/// [`MAX_COUNT`] nanoseconds within days. The sum of all four CPU times still fits.
const MAX_AMOUNT: u64 = 1 << 61;
/// A thousand times the highest rate of a plan, in requests per second.
const MAX_RATE: f64 = 1e11;

/// Checks the content of a run, as every read does.
///
/// # Errors
/// When something cannot be true; the text says what.
pub fn check_run(run: &Run) -> Result<(), String> {
    if let Some(damage) = verify::total(&run.damage) {
        return Err(format!(
            "the table `{}` does not match its digest, so that nothing can be trusted",
            damage.table
        ));
    }
    if run.steps.is_empty() && run.damage.iter().any(|damage| !damage.steps.is_empty()) {
        return Err("frames of every step do not match their digests".to_owned());
    }
    check_sizes(run)?;
    run.frames.iter().try_for_each(|frame| check_frame(&frame.head))?;
    check_frames_are_of_steps(run)?;
    check_frames_are_unique(run)?;
    check_sums(run)
}

/// Checks that no number exceeds what a run can reach, so that computations with these numbers do not overflow.
fn check_sizes(run: &Run) -> Result<(), String> {
    if instants(run).any(|ns| ns > MAX_INSTANT_NS) {
        return Err("something happened more than two years after the run began".to_owned());
    }
    let stages = run.steps.iter().flat_map(|step| &step.stages);
    let rates = stages.flat_map(|stage| [stage.from_per_sec, stage.to_per_sec]);
    let rates = rates.chain(run.steps.iter().filter_map(|step| step.rate_per_sec));
    if rates.into_iter().any(|rate| !(0.0..=MAX_RATE).contains(&rate)) {
        return Err(format!("a step has a rate that is not between 0 and {MAX_RATE} a second"));
    }
    check_totals(run, counts, MAX_COUNT)?;
    check_totals(run, amounts, MAX_AMOUNT)
}

/// Checks for each number that `numbers` returns that its sum over all frames is at most `max`.
fn check_totals<const N: usize>(
    run: &Run,
    numbers: impl Fn(&FrameHead) -> [u64; N],
    max: u64,
) -> Result<(), String> {
    let mut totals = [0_u64; N];
    for frame in &run.frames {
        for (total, number) in totals.iter_mut().zip(numbers(&frame.head)) {
            *total = total.saturating_add(number);
        }
    }
    match totals.iter().any(|total| *total > max) {
        true => Err(format!("the frames have more than {max} of something")),
        false => Ok(()),
    }
}

/// Returns every instant of a run except those of its manifest.
fn instants(run: &Run) -> impl Iterator<Item = u64> {
    let steps = run.steps.iter().flat_map(|step| [step.began_ns, step.ended_ns, step.drained_ns]);
    let stages = run.steps.iter().flat_map(|step| &step.stages).map(|stage| stage.span_ns);
    let frames = run.frames.iter().flat_map(|frame| [frame.head.began_ns, frame.head.ended_ns]);
    let traces = run.frames.iter().flat_map(|frame| &frame.traces);
    let traces = traces.flat_map(|trace| [trace.sent_ns, trace.latency_ns.unwrap_or(0)]);
    let hosts = run.hosts.iter().flat_map(|sample| [sample.began_ns, sample.ended_ns]);
    let profiles = run.profiles.iter().flat_map(|profile| [profile.began_ns, profile.ended_ns]);
    let shares = run.steps.iter().flat_map(|step| &step.generators);
    let shares = shares.flat_map(|share| [share.clock_error_ns.unwrap_or(0), share.lost_ns.unwrap_or(0)]);
    steps
        .chain(stages)
        .chain(shares)
        .chain(frames)
        .chain(traces)
        .chain(hosts)
        .chain(profiles)
        .chain(run.events.iter().map(|event| event.at_ns))
}

/// Returns every count of a frame; counts by kind are summed.
fn counts(head: &FrameHead) -> [u64; 14] {
    let FrameHead { counts, .. } = head;
    let sum = |sum: u64, count: u64| sum.saturating_add(count);
    [
        counts.intended,
        counts.sent,
        counts.completed,
        counts.ok,
        counts.reconnects,
        counts.connects,
        counts.handshakes,
        counts.resumed,
        counts.status.iter().map(|(_, count)| count).fold(0, sum),
        counts.failed.iter().map(|(_, count)| count).fold(0, sum),
        counts.checks.iter().map(|(_, count)| count).fold(0, sum),
        head.in_flight,
        head.backlog,
        head.connections,
    ]
}

/// Returns the CPU times and bytes of a frame.
fn amounts(head: &FrameHead) -> [u64; 6] {
    let FrameHead { counts, time, .. } = head;
    [time.user_ns, time.system_ns, time.starved_ns, time.stalled_ns, counts.bytes_in, counts.bytes_out]
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

/// Whether every request that was due must have ended: the run ended normally, and no worker was abandoned.
pub(crate) fn is_accounted_for(run: &Run) -> bool {
    run.manifest.sealed && !run.events.iter().any(|event| event.kind == EventKind::StepFailed)
}

fn check_sums(run: &Run) -> Result<(), String> {
    if !is_accounted_for(run) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const CPU_YEAR_NS: u64 = 365 * 24 * 60 * 60 * 1_000_000_000;

    /// The first worker of a run spent this much CPU time.
    fn run_of(user_ns: u64) -> Run {
        let mut run = fixture::run();
        run.frames[0].head.time.user_ns = user_ns;
        run
    }

    #[test]
    fn a_fleet_may_use_years_of_cpu_time_and_petabytes() {
        let mut run = run_of(10 * CPU_YEAR_NS);
        run.frames[0].head.counts.bytes_in = 1 << 60;
        assert_eq!(check_run(&run), Ok(()));
        let refused = check_run(&run_of(100 * CPU_YEAR_NS));
        assert!(refused.is_err_and(|reason| reason.contains("more than")));
    }

    #[test]
    fn a_count_is_one_that_a_double_holds_exactly() {
        let mut run = fixture::run();
        run.frames[0].head.counts.reconnects = (1 << 53) + 1;
        assert!(check_run(&run).is_err_and(|reason| reason.contains("more than")));
    }
}
