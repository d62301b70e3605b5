//! What holds for the analysis of every run that can be read: shared by the tests and the fuzz target.

use plimsoll_plan::{ArrivalProcess, LatencyLimit, Level, Load, Plan, RateProfile, Slo};
use plimsoll_record::{
    Counters, EncodedHistogram, Event, EventKind, FailureKind, Frame, HostSample, Phase, Reading, Run,
    RunCommand, Source, StepEnd,
};
use plimsoll_store::check_run;

use crate::{base, report};

/// Bytes of one edit: what is changed, of which row, and to which value in two.
const EDIT_BYTES: usize = 4;

/// The most that one edit adds to what others have added. More than a run may have, and a thousand edits do not overflow.
const MAX_ADDED: u64 = 1 << 53;

/// Numbers at which something changes.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    10,
    99,
    1000,
    60_000,
    1_000_000,
    base::SECOND_NS,
    60 * base::SECOND_NS,
    1 << 31,
    1 << 32,
    1 << 53,
    i64::MAX as u64 - 1,
    i64::MAX as u64,
    u64::MAX,
];

/// Edits a run and asserts that it is refused, or analysed and reported in numbers. A byte after the edits says in which form.
pub(crate) fn check(input: &[u8]) {
    let edits = input.chunks_exact(EDIT_BYTES);
    let form = edits.remainder().first().copied().unwrap_or(edits.len() as u8);
    let mut run = base::run();
    for edit in edits {
        let number = number(edit[2], edit[3]);
        apply(&mut run, edit[0], usize::from(edit[1]), number);
    }
    match check_run(&run) {
        Ok(()) => report::check(&run, form),
        Err(reason) => assert!(!reason.is_empty()),
    }
}

/// One of [`NUMBERS`], or a multiple of one.
fn number(which: u8, times: u8) -> u64 {
    NUMBERS[usize::from(which) % NUMBERS.len()].saturating_mul(u64::from(times).max(1))
}

fn apply(run: &mut Run, what: u8, which: usize, number: u64) {
    match what % 48 {
        what @ 0..24 => edit_frame(run, what, which, number),
        what @ 24..32 => edit_step(run, what, which, number),
        what @ 32..40 => edit_sample(run, what, which, number),
        40 => {
            let kinds = [
                EventKind::TargetLost,
                EventKind::Rested,
                EventKind::WarmedUp,
                EventKind::Interrupted,
                EventKind::StepFailed,
                EventKind::FailureSeen,
            ];
            let kind = kinds[which % kinds.len()];
            run.events.push(Event { at_ns: number, kind, failure: None, text: "An event.".to_owned() });
        }
        41 => {
            let commands = [RunCommand::Run, RunCommand::Sweep, RunCommand::Wrk];
            run.manifest.command = commands[which % commands.len()];
        }
        42 => run.manifest.machine.limits.cores = number as u32,
        43 => run.manifest.sealed = which.is_multiple_of(2),
        44 => run.manifest.preflight.local = which.is_multiple_of(2),
        what => edit_plan(run, what, which, number),
    }
}

fn edit_frame(run: &mut Run, what: u8, which: usize, number: u64) {
    let Some(at) = which.checked_rem(run.frames.len()) else { return };
    if what == 23 {
        run.frames.remove(at);
        return;
    }
    let Frame { head, latency, service, send_lag, .. } = &mut run.frames[at];
    let counts = &mut head.counts;
    match what {
        0 => counts.intended = number,
        1 => counts.sent = number,
        2 => {
            counts.status.add(200 + which as u16, number.min(MAX_ADDED));
            counts.completed = counts.status.iter().fold(0, |sum, (_, count)| sum.saturating_add(count));
        }
        3 => counts.ok = number.min(counts.completed),
        4 => counts.bytes_in = number,
        5 => counts.bytes_out = number,
        6 => counts.reconnects = number,
        7 => counts.connects = number,
        8 => head.in_flight = number,
        9 => head.backlog = number,
        10 => head.connections = number,
        11 => head.time.user_ns = number,
        12 => head.time.system_ns = number,
        13 => head.time.starved_ns = number,
        14 => head.time.stalled_ns = number,
        15 => head.began_ns = number,
        16 => head.ended_ns = number,
        17 => counts.failed.add(FailureKind::Unsent, number.min(MAX_ADDED)),
        18 => head.interval = number as u32,
        19 => head.worker = number as u32,
        20 => head.step = number as u32 % 4,
        21 => head.phase = if number.is_multiple_of(2) { Phase::Measure } else { Phase::Drain },
        _ => {
            let none = EncodedHistogram::default();
            match number % 4 {
                0 => *latency = none,
                1 => *service = Some(latency.clone()),
                2 => *send_lag = latency.clone(),
                _ => {
                    *latency =
                        EncodedHistogram::from_bytes(latency.as_bytes().iter().copied().skip(which).collect())
                }
            }
        }
    }
}

fn edit_step(run: &mut Run, what: u8, which: usize, number: u64) {
    let Some(at) = which.checked_rem(run.steps.len()) else { return };
    let step = &mut run.steps[at];
    match what {
        24 => step.began_ns = number,
        25 => step.ended_ns = number,
        26 => step.drained_ns = number,
        27 => step.connections = number as u32,
        28 => step.depth = number as u16,
        29 => step.rate_per_sec = Some(f64::from_bits(number)),
        30 => step.end = [StepEnd::Cut, StepEnd::TargetLost, StepEnd::Stopped, StepEnd::Steady][which % 4],
        _ => drop(run.steps.remove(at)),
    }
}

fn edit_sample(run: &mut Run, what: u8, which: usize, number: u64) {
    let Some(at) = which.checked_rem(run.hosts.len()) else { return };
    let sample = &mut run.hosts[at];
    match what {
        32 => sample.reading = Reading::Absent,
        33 => sample.began_ns = number,
        34 => sample.ended_ns = number,
        35 => sample.host = "other".into(),
        36 => {
            sample.subject = ["", "7", "12 nginx", "12/13 nginx", "10.0.0.1:8080", "eth0"][which % 6].into()
        }
        37 => drop(run.hosts.remove(at)),
        // All metrics of some source: those of all samples that share it are then counters of that.
        38 => *sample = with_all_metrics(sample, number, number),
        _ => *sample = with_all_metrics(sample, number, u64::from(sample.began_ns > number)),
    }
}

/// A sample of the source of this number in which every metric has this value.
fn with_all_metrics(sample: &HostSample, source: u64, value: u64) -> HostSample {
    let sources: Vec<Source> = Source::all().collect();
    let source = sources[source as usize % sources.len()];
    let counters =
        source.metrics().iter().map(|metric| (*metric, value)).collect::<plimsoll_record::CounterSet>();
    HostSample { source: source.into(), reading: Reading::Ok(Counters::from(counters)), ..sample.clone() }
}

fn edit_plan(run: &mut Run, what: u8, which: usize, number: u64) {
    let Ok(mut plan) = Plan::from_json(&run.manifest.plan) else { return };
    match what {
        45 => {
            let level = if which.is_multiple_of(2) {
                Level::Closed { connections: number as u32, depth: 1 }
            } else {
                let arrivals = ArrivalProcess::Poisson;
                Level::Open {
                    profile: RateProfile::Constant(number as f64),
                    arrivals,
                    connections: 1,
                    depth: 1,
                }
            };
            let duration = std::time::Duration::from_millis(number);
            plan.load = Load::Single { level, duration, requests_max: None };
        }
        46 => {
            let limit = Some(f64::from_bits(number)).filter(|limit| limit.is_finite());
            plan.slo = Slo {
                latency: limit.map(LatencyLimit::p99).into_iter().collect(),
                success_ratio: None,
                throughput_per_sec: Some(number as f64),
            };
        }
        _ => plan.hosts.truncate(which % 2),
    }
    run.manifest.plan = plan.to_json();
}
