//! One load of one side, as far as a comparison needs it.

use std::collections::BTreeMap;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::{EncodedHistogram, EventKind, Run, StepEnd};

use crate::analysis::AnalyzeError;
use crate::hosts::topology::walk;
use crate::hosts::tracks::{self, Hosts, StepSamples};
use crate::hosts::usage::served_cores;
use crate::load::summary::latencies;
use crate::{Findings, MIN_SUCCESS_RATIO, SearchEnd, StepSummary, chosen_step};

/// The ends of a search that differ by more than so many times its tolerance are wide.
const WIDE: f64 = 2.0;

/// A service that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbSide {
    /// What the other is compared with.
    A,
    B,
}

impl AbSide {
    /// A, then B.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// What kind of load a comparison makes, which says what its main figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadKind {
    /// A number of connections: throughput.
    Closed,
    /// A rate: p99.
    Open,
    /// A search for the highest rate within conditions: that rate.
    Search,
}

impl LoadKind {
    /// The kind of a plan's load.
    pub fn new(plan: &Plan) -> Self {
        match &plan.load {
            _ if plan.search.is_some() => Self::Search,
            Load::Single { level, .. } if level.profile().is_some() => Self::Open,
            Load::Single { .. } | Load::Ladder { .. } => Self::Closed,
        }
    }
}

/// How far apart the highest rate of a search that held and the lowest that did not are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchGap {
    Narrow,
    /// By more than twice the tolerance of the search.
    Wide,
    /// No rate broke: more may hold.
    Open,
}

/// Why a load says nothing of its service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unusable {
    /// It was ended early: by the user, by a lost generator, or because plimsoll itself was killed.
    Cut,
    /// The service stopped answering.
    Lost,
    /// Nothing was answered.
    Silent,
    /// Too many requests failed; the ratio of those that succeeded.
    Failing(f64),
}

/// One load of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct AbLoad {
    pub side: AbSide,
    /// The round it belongs to, from 1.
    pub round: u32,
    pub kind: LoadKind,
    /// In milliseconds since 1970-01-01 UTC, as the end.
    pub began_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// Connections of a closed loop, or those that an open loop began with.
    pub connections: u32,
    /// The offered rate of an open loop, requests per second.
    pub rate_per_sec: Option<f64>,
    pub throughput_per_sec: f64,
    /// Of a search, the geometric middle of the highest rate that held and the lowest that did not, or the former where none broke: 0
    /// if it is known that none holds, `None` if that is open.
    pub max_rate_per_sec: Option<f64>,
    /// How far apart those two rates are; `None` where no rate is known to hold.
    pub gap: Option<SearchGap>,
    /// CPU time of the service for one request, in seconds; `None` where its processes were not sampled.
    pub cpu_sec: Option<f64>,
    pub succeeded: u64,
    /// Requests that ended.
    pub ended: u64,
    /// The generator was the limit: throughput and latency may be better than this says.
    pub lower_bound: bool,
    pub unusable: Option<Unusable>,
    /// Latencies in nanoseconds; empty of a search.
    pub latency: EncodedHistogram,
}

impl AbLoad {
    /// The load that a run was.
    ///
    /// # Errors
    /// When a histogram of the run cannot be read.
    pub fn new(run: &Run, findings: &Findings, side: AbSide, round: u32) -> Result<Self, AnalyzeError> {
        let kind = LoadKind::new(&findings.plan);
        let decisive = match kind {
            LoadKind::Search => best_within(findings),
            LoadKind::Closed | LoadKind::Open => findings.steps.iter().enumerate().next_back(),
        };
        let step = decisive.map(|(_, step)| step);
        let max_rate_per_sec = max_rate(kind, findings);
        let unusable = unusable(run, kind, step);
        // What a search found stands although the ladder failed, but no other figure is that of a service that works.
        let is_failing = max_rate_per_sec.is_some() && matches!(unusable, Some(Unusable::Failing(_)));
        let figures = decisive.filter(|_| !is_failing);
        let ended_ns = run.drained_ns();
        let began_unix_ms = run.manifest.started_unix_ms;
        Ok(Self {
            side,
            round,
            kind,
            began_unix_ms,
            ended_unix_ms: began_unix_ms + ended_ns / 1_000_000,
            connections: step.map_or(0, |step| step.connections),
            rate_per_sec: step.and_then(|step| step.rate_per_sec),
            throughput_per_sec: figures.map_or(0.0, |(_, step)| step.throughput.value),
            max_rate_per_sec,
            gap: gap(findings),
            cpu_sec: figures.and_then(|(position, step)| cpu_sec(run, findings, position, step)),
            succeeded: findings.steps.iter().map(|step| step.counts.ok).sum(),
            ended: findings.steps.iter().map(|step| step.counts.ended()).sum(),
            lower_bound: findings.lower_bound,
            unusable: unusable.filter(|_| !is_failing),
            latency: match step.filter(|_| kind != LoadKind::Search) {
                Some(step) => latency(run, &findings.plan, step.index)?,
                None => EncodedHistogram::default(),
            },
        })
    }
}

/// The best step within the conditions and its position: one that serves more, but refuses most of it, is not what is compared.
fn best_within(findings: &Findings) -> Option<(usize, &StepSummary)> {
    let chosen = chosen_step(findings)?.index;
    findings.steps.iter().enumerate().find(|(_, step)| step.index == chosen)
}

/// The rate that a search came to; 0 if low rates broke the conditions, too, or none was tried as none can hold.
fn max_rate(kind: LoadKind, findings: &Findings) -> Option<f64> {
    match &findings.search {
        _ if kind != LoadKind::Search => None,
        Some(search) if search.end == SearchEnd::NeverHeld => Some(0.0),
        Some(search) => {
            let held = search.held_per_sec?;
            Some(search.broken_per_sec.map_or(held, |broken| (held * broken).sqrt()))
        }
        None => {
            let check = findings.slo.as_ref()?;
            (check.best_step.is_none() && findings.is_too_slow_for_any_rate()).then_some(0.0)
        }
    }
}

fn gap(findings: &Findings) -> Option<SearchGap> {
    let (search, order) = findings.search.as_ref().zip(findings.plan.search)?;
    let held = search.held_per_sec?;
    Some(match search.broken_per_sec {
        None => SearchGap::Open,
        Some(broken) if broken / held > 1.0 + WIDE * order.tolerance => SearchGap::Wide,
        Some(_) => SearchGap::Narrow,
    })
}

/// True for a load that did not run to its end. The ladder of a search may be cut by its share of the time, and says all the same
/// what it says.
fn is_cut(run: &Run, kind: LoadKind, step: Option<&StepSummary>) -> bool {
    let is_interrupted = || run.events.iter().any(|event| event.kind == EventKind::Interrupted);
    let is_step_cut = || kind != LoadKind::Search && step.is_some_and(|step| step.end == StepEnd::Cut);
    !run.manifest.sealed || is_interrupted() || is_step_cut()
}

fn unusable(run: &Run, kind: LoadKind, step: Option<&StepSummary>) -> Option<Unusable> {
    if is_cut(run, kind, step) {
        return Some(Unusable::Cut);
    }
    let Some(step) = step else { return Some(Unusable::Silent) };
    let ratio = step.success_ratio.unwrap_or(0.0);
    match step.end {
        StepEnd::TargetLost => Some(Unusable::Lost),
        _ if step.throughput.value <= 0.0 => Some(Unusable::Silent),
        _ if ratio < MIN_SUCCESS_RATIO => Some(Unusable::Failing(ratio)),
        _ => None,
    }
}

fn cpu_sec(run: &Run, findings: &Findings, position: usize, step: &StepSummary) -> Option<f64> {
    let hosts = Hosts::new(run);
    let spans = tracks::spans(run, &findings.steps);
    let machine_cores = f64::from(run.manifest.machine.limits.cores);
    let samples = StepSamples { hosts: &hosts, spans: &spans, machine_cores };
    let flow = walk::flow(run, &findings.plan, &samples);
    let cores = served_cores(&samples, &findings.steps, &flow, position)?;
    (cores > 0.0 && step.throughput.value > 0.0).then(|| cores / step.throughput.value)
}

fn latency(run: &Run, plan: &Plan, index: u32) -> Result<EncodedHistogram, AnalyzeError> {
    let Some(step) = run.steps.iter().find(|step| step.index == index) else {
        return Ok(EncodedHistogram::default());
    };
    let frames: Vec<_> = run.frames_of(index).collect();
    let merged = latencies(plan, step, &frames);
    let merged = merged.map_err(|source| AnalyzeError::Histogram { step: index, source })?;
    Ok(EncodedHistogram::encode(&merged))
}

/// The rounds in which both sides were measured, in order.
pub(super) fn rounds(loads: &[AbLoad]) -> Vec<(&AbLoad, &AbLoad)> {
    let mut by_round: BTreeMap<u32, [Option<&AbLoad>; 2]> = BTreeMap::new();
    for load in loads.iter().filter(|load| load.unusable.is_none()) {
        by_round.entry(load.round).or_default()[load.side as usize] = Some(load);
    }
    by_round.into_values().filter_map(|[a, b]| a.zip(b)).collect()
}
