//! The findings of a run: every figure and sentence of a report is made from these types.

mod advice;
mod claim;
mod confidence;
mod evidence;
mod overload;
mod part;
mod place;
mod proof;
mod raise;
mod times;
mod verdict;

use plimsoll_plan::{LatencyLimit, Slo};

use crate::GeneratorHealth;

pub use advice::{Advice, FailureAdvice};
pub use claim::{AtOnceLaw, BusiestProcess, Claim, LawBreach, LoadEffect, RowClaim, Used};
pub use confidence::Confidence;
pub use evidence::{At, Evidence, EvidenceUnit, Observation, PlaceCount};
pub use overload::{
    Outage, Overload, OverloadDoubt, OverloadMoment, OverloadOutcome, OverloadPhase, OverloadStep,
    Protection, Recovery,
};
pub use part::{Part, ProcessId};
pub use place::Place;
pub use plimsoll_plan::{Limit, Onset, OverloadClass, RampEffect};
pub use plimsoll_stats::Estimate;
pub use plimsoll_stats::usl::{Usl, UslFit};
pub use proof::{Bound, Flaw, Proof, ProofAttempt, ProofOutcome};
pub use raise::Raise;
pub use times::{Percentile, TimeSummary};
pub use verdict::{Excluded, NextLimit, Suspect, Verdict};

/// Whether the throughput of a step settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Steadiness {
    /// The warm-up was found and cut, and the interval of throughput is within ±2 %.
    Steady,
    /// The interval of throughput is wider than ±2 %.
    Wide,
    /// Throughput changed within the step, and not by a warm-up that could be cut; in an open loop, the queue grew.
    Moving,
    TooShort,
    /// The plan changes the offered rate, so throughput was not expected to settle.
    Ramp,
}

/// The results of one request of a plan with several, in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSummary {
    pub name: String,
    /// Everything counted over the whole step, warm-up and drain included.
    pub counts: plimsoll_record::Counts,
    /// Successes over everything that ended; `None` if nothing did.
    pub success_ratio: Option<f64>,
    /// Its 95 % interval; `None` if nothing ended.
    pub success_interval: Option<(f64, f64)>,
    pub throughput_per_sec: f64,
    /// done − intended.
    pub latency: TimeSummary,
    /// done − sent.
    pub service: TimeSummary,
}

/// A part of a step whose offered rate changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RampWindow {
    /// When it began, in seconds since the load began.
    pub began_sec: f64,
    /// When it ended, in seconds since the load began.
    pub end_sec: f64,
    /// The offered rate in its middle, requests per second.
    pub rate_per_sec: f64,
    pub due_per_sec: f64,
    pub throughput_per_sec: f64,
    /// Successes over everything that ended within it; `None` if nothing did.
    pub success_ratio: Option<f64>,
    /// Requests sent and not answered at its end.
    pub in_flight: u64,
    /// Requests due and not sent at its end.
    pub backlog: u64,
    /// done − intended of the requests that ended within it.
    pub latency: TimeSummary,
}

/// The results of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepSummary {
    pub index: u32,
    pub connections: u32,
    /// The most requests under way on one connection.
    pub depth: u16,
    /// The offered rate of an open loop, requests per second; its mean where it changes.
    pub rate_per_sec: Option<f64>,
    /// Everything counted over the whole step, warm-up and drain included.
    pub counts: plimsoll_record::Counts,
    /// Successes of the warm-up and of the measured window, without those of the drain.
    pub ok_under_load: u64,
    /// Successes over everything in `counts` that ended, warm-up and drain included; requests sent and never
    /// answered, and due and never sent, have ended too. `None` if nothing ended.
    pub success_ratio: Option<f64>,
    /// Its 95 % interval, which has room below 1 even where all succeeded; `None` if nothing ended.
    pub success_interval: Option<(f64, f64)>,
    /// Seconds of warm-up cut from the front.
    pub warmup_sec: f64,
    /// Seconds that were measured: after the warm-up and before the drain, or until the target was lost.
    pub measured_sec: f64,
    pub drain_sec: f64,
    /// Completed requests per second over the measured window.
    pub throughput: Estimate,
    /// True if the throughput is a lower bound: the generator was the limit in this step, or shares what limits the run's best step.
    pub lower_bound: bool,
    pub bytes_in_per_sec: f64,
    pub steadiness: Steadiness,
    /// In a closed loop, the change of throughput from the beginning of the measured window to its end, relative to its mean; below
    /// zero if it fell. `None` where that is within 2 % or may be chance.
    pub drift: Option<f64>,
    pub end: plimsoll_record::StepEnd,
    /// When the target was lost in this step, in seconds since the run began: the end of the last frame
    /// with an answer, or the step's begin if there was none.
    pub lost_at_sec: Option<f64>,
    /// done − intended.
    pub latency: TimeSummary,
    /// The percentiles of latency that have a limit, in the order of the plan's limits.
    pub limited: Vec<Percentile>,
    /// done − sent.
    pub service: TimeSummary,
    /// Time to open a connection, including a TLS handshake, for connections opened in the measured window.
    pub connect: TimeSummary,
    /// The TLS handshake's part of `connect`.
    pub handshake: TimeSummary,
    /// The requests of a plan with several, in the plan's order; empty for a plan with one.
    pub requests: Vec<RequestSummary>,
    /// Windows over the step where the offered rate changes; otherwise empty.
    pub ramp_windows: Vec<RampWindow>,
    /// How many generators with machines of their own made the load together; 0 where one machine made it.
    pub generators: usize,
    pub generator: GeneratorHealth,
}

impl StepSummary {
    /// The position of the step: its connections, or the rate of an open loop.
    pub(crate) fn at(&self) -> At {
        self.rate_per_sec.map_or(At::Connections(self.connections), At::Rate)
    }

    /// The most requests under way: connections × depth.
    pub(crate) fn under_way(&self) -> f64 {
        f64::from(self.connections) * f64::from(self.depth)
    }

    /// True if the machine that conducted the step also made its load. In a fleet, other machines make it.
    pub(crate) fn is_made_here(&self) -> bool {
        self.generators == 0
    }

    /// Cores of this machine that the generator's workers used together in the measured window; `None` where nothing was measured,
    /// and for a fleet.
    pub(crate) fn generator_cores(&self) -> Option<f64> {
        let ratios = self.generator.by_worker.iter().map(|worker| worker.cpu_ratio);
        (self.is_made_here() && self.measured_sec > 0.0).then(|| ratios.sum())
    }
}

/// Where throughput stops growing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The highest throughput of any step.
    pub plateau: Estimate,
    /// Connections of the step with the highest throughput.
    pub plateau_connections: u32,
    /// The smallest tested number of connections within 5 % of the plateau.
    pub connections: u32,
    /// N* = (D + Z) / D_max: the plateau times the mean latency of the lowest step, over the requests that
    /// each connection has under way.
    pub connections_predicted: f64,
    /// False if the ladder ended while throughput was still growing: the plateau is not known, and
    /// the values are those of the last step that was not cut short.
    pub reached: bool,
}

/// Whether one part of the SLO held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
    Unknown,
}

/// The result of checking the SLO.
#[derive(Debug, Clone, PartialEq)]
pub struct SloCheck {
    pub slo: Slo,
    /// Index of the step with the highest throughput within the limits of latency and success, if any.
    pub best_step: Option<u32>,
    /// The highest throughput within the limits of latency and success.
    pub throughput_within: Option<Estimate>,
    /// Whether each limit of latency holds, in the order of `slo`, at `best_step`, or at the lowest step if none holds.
    pub latency: Vec<Held>,
    /// Whether the success ratio holds at the same step.
    pub success: Held,
    /// Whether `throughput_within` reaches the throughput that was asked for.
    pub throughput: Held,
}

impl SloCheck {
    /// True if all parts are known to hold.
    pub fn held(&self) -> bool {
        self.parts().all(|part| part == Held::Yes)
    }

    /// True if some part is known not to hold.
    pub fn broken(&self) -> bool {
        self.parts().any(|part| part == Held::No)
    }

    /// True if a limit of latency is known not to hold.
    pub fn is_too_slow(&self) -> bool {
        self.latency.contains(&Held::No)
    }

    fn parts(&self) -> impl Iterator<Item = Held> {
        self.latency.iter().copied().chain([self.success, self.throughput])
    }
}

/// A step of a ladder that was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotRun {
    pub connections: u32,
    /// The limit of this machine.
    pub allowed: plimsoll_record::LoweredTo,
}

/// The condition that a rate broke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Breach {
    /// More responses than allowed took longer than this limit.
    Latency(LatencyLimit),
    /// More requests than allowed failed.
    Success,
    /// Requests queued up: more of them waited than the target answers within the limit of the highest percentile.
    Queue,
}

/// The outcome of one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrialOutcome {
    Held,
    Broken(Breach),
    /// Too close to a limit to be decided in the time available.
    Close,
    /// The generator was the limit: nothing is known of the target.
    GeneratorLimited,
}

/// A rate that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSummary {
    pub step: StepSummary,
    pub outcome: TrialOutcome,
    /// True if it began right after the load of a rate that broke.
    pub after_overload: bool,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// The highest rate that holds and the lowest that does not are as close as was asked for, and a second trial confirmed each.
    Found,
    /// It ended early: its time was over, the user ended it, or its trials contradicted each other too often.
    Unfinished,
    /// Higher rates are beyond the generator.
    GeneratorLimited,
    /// Even rates far below what the target served without conditions broke them.
    NeverHeld,
}

/// A maximum that moved during the search: chance does not explain the results of these two rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// A rate that held at one time, requests per second.
    pub held_per_sec: f64,
    /// A lower rate that broke at another time, requests per second.
    pub broken_per_sec: f64,
    /// True if the lower rate broke after the higher one had held: the target got slower.
    pub falls: bool,
}

/// The results of a search for the highest rate within the conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    /// Every rate that was tried, in order.
    pub trials: Vec<TrialSummary>,
    /// The highest rate that held, requests per second.
    pub held_per_sec: Option<f64>,
    /// The lowest rate above it that did not, requests per second.
    pub broken_per_sec: Option<f64>,
    /// What broke at that rate.
    pub breach: Option<Breach>,
    /// Set if the maximum moved during the search.
    pub drift: Option<Drift>,
    /// A rate that held before and after, but not right after an overload, requests per second.
    pub hysteresis_per_sec: Option<f64>,
    /// Set if the ladder brought the target down, and no rate held after that.
    pub outage: Option<Outage>,
    pub end: SearchEnd,
}

impl RateSearch {
    /// The last trial of the highest rate that held.
    pub fn best(&self) -> Option<&TrialSummary> {
        let held = self.held_per_sec?;
        self.trials.iter().rev().find(|trial| {
            trial.outcome == TrialOutcome::Held && trial.step.rate_per_sec.is_some_and(|rate| rate == held)
        })
    }

    /// The trial that decides about the conditions: the best one, or, if no rate holds, the last one of the lowest rate; `None` if the
    /// search ended before that.
    pub fn deciding(&self) -> Option<&TrialSummary> {
        let is_lowest = |trial: &&TrialSummary| {
            self.broken_per_sec.is_some() && trial.step.rate_per_sec == self.broken_per_sec
        };
        match self.end {
            SearchEnd::NeverHeld => self.trials.iter().rev().find(is_lowest),
            _ => self.best(),
        }
    }
}

/// Everything found in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    pub plan: plimsoll_plan::Plan,
    pub steps: Vec<StepSummary>,
    /// The generator's health over the run: the worst of its steps that count for the answer.
    pub generator: GeneratorHealth,
    /// The knee, if the run was a ladder of at least two steps with throughput.
    pub knee: Option<Knee>,
    /// The scalability law, if the run was a ladder.
    pub usl: Option<UslFit>,
    /// The SLO, if one was asked for.
    pub slo: Option<SloCheck>,
    /// The processes that requests pass, as far as they were observed.
    pub topology: crate::Topology,
    /// The use of each resource of the watched hosts, including the generator's.
    pub resources: Vec<crate::Resource>,
    pub verdict: Verdict,
    /// The steps that were asked for and not run, because this machine cannot open so many connections.
    pub not_run: Vec<NotRun>,
    /// The steps that were held for CPU profiles; no other finding rests on them.
    pub profiled: Vec<StepSummary>,
    /// The search for the highest rate within the conditions, if one was made; its steps are not among the others.
    pub search: Option<RateSearch>,
    /// The target's behaviour under overload, if the plan asks for it. Its steps are not among `steps`, except that of a given rate.
    pub overload: Option<Overload>,
    /// True if the figures are lower bounds because the generator was the limit: print "≥".
    pub lower_bound: bool,
}

/// Answers whose mean size differs by more than this factor between steps are answers to different work.
const SAME_SIZE: f64 = 1.2;
/// Headers alone, such as the digits of a counter, differ by less than this many bytes.
const HEADER_BYTES: f64 = 64.0;

impl Findings {
    /// The step of the highest throughput, the last of several, and its position; `None` without steps.
    pub fn best_step(&self) -> Option<(usize, &StepSummary)> {
        let steps = self.steps.iter().enumerate();
        steps.max_by(|a, b| a.1.throughput.value.total_cmp(&b.1.throughput.value))
    }

    /// As [`best_step`](Self::best_step); `None` also if nothing was answered in time.
    pub fn best_answered_step(&self) -> Option<(usize, &StepSummary)> {
        self.best_step().filter(|(_, step)| step.throughput.value > 0.0)
    }

    /// The smallest and the largest mean size of an answer with its headers, in bytes, over the steps without failures; `None` if they
    /// do not differ.
    pub fn changed_answer(&self) -> Option<(f64, f64)> {
        let counts = self.steps.iter().map(|step| &step.counts);
        let clean = counts.filter(|counts| counts.ok > 0 && counts.ok == counts.completed);
        let sizes = || clean.clone().map(|counts| counts.bytes_in as f64 / counts.completed as f64);
        let (least, most) = (sizes().reduce(f64::min)?, sizes().reduce(f64::max)?);
        (most > SAME_SIZE * least && most - least > HEADER_BYTES).then_some((least, most))
    }

    /// True if there were answers with success, but all of them only after the load of their step had ended:
    /// one answer takes longer than a step, and throughput is not known.
    pub fn answered_late(&self) -> bool {
        answered_late(&self.steps)
    }

    /// True if half of the requests of the lowest step took longer than a limit of latency that does not hold: then no arrival rate
    /// holds it either. Where only some took longer, a rate that leaves pauses may.
    pub fn is_too_slow_for_any_rate(&self) -> bool {
        let Some(check) = &self.slo else { return false };
        let lowest = self.steps.iter().min_by_key(|step| step.connections);
        let median_ns = lowest.and_then(|step| step.latency.p50.ns);
        let mut broken = check.slo.latency.iter().zip(&check.latency).filter(|(_, held)| **held == Held::No);
        broken.any(|(limit, _)| median_ns.is_none_or(|ns| ns > limit.limit_ns()))
    }

    /// The step in which the target was lost, if it was: of the ladder or of the search.
    pub fn lost_step(&self) -> Option<&StepSummary> {
        let trials = self.search.iter().flat_map(|search| &search.trials).map(|trial| &trial.step);
        self.steps.iter().chain(trials).find(|step| step.end == plimsoll_record::StepEnd::TargetLost)
    }
}

/// True if there were successful answers, but every one only after the load of its step had ended.
pub(crate) fn answered_late(steps: &[StepSummary]) -> bool {
    steps.iter().all(|step| step.throughput.value == 0.0) && steps.iter().any(|step| step.counts.ok > 0)
}
