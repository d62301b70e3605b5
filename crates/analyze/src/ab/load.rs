//! One load of one side, reduced to the figures that a comparison needs.

use std::collections::BTreeMap;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::{EncodedHistogram, EventKind, Run, StepEnd};

use crate::analysis::AnalyzeError;
use crate::hosts::topology::walk;
use crate::hosts::tracks::{self, Hosts, StepSamples};
use crate::hosts::usage::served_cores;
use crate::load::summary::latencies;
use crate::{Findings, MIN_SUCCESS_RATIO, SearchEnd, StepSummary, chosen_step};

/// A search is wide if the ratio of its ends is above 1 plus this many times its tolerance.
const WIDE: f64 = 2.0;

/// A service that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbSide {
    /// The reference.
    A,
    B,
}

impl AbSide {
    /// A, then B.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The letter of the side.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

/// The kind of load that a comparison makes; it determines the main figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadKind {
    /// A number of connections; the main figure is throughput.
    Closed,
    /// A rate; the main figure is p99.
    Open,
    /// A search for the highest rate within the conditions; the main figure is that rate.
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

/// The distance between the highest rate that held and the lowest that broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchGap {
    Narrow,
    /// More than twice the tolerance of the search.
    Wide,
    /// No rate broke, so that a higher one may hold.
    Open,
}

/// Why a load is not used in the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unusable {
    /// It ended early: by the user, by a lost generator, or because plimsoll was killed.
    Cut,
    /// The service stopped answering.
    Lost,
    /// Nothing was answered.
    Silent,
    /// Too many requests failed; the success ratio.
    Failing(f64),
}

/// One load of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct AbLoad {
    pub side: AbSide,
    /// The round it belongs to, from 1.
    pub round: u32,
    pub kind: LoadKind,
    /// Milliseconds since 1970-01-01 UTC, like `ended_unix_ms`.
    pub began_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// Connections of a closed loop, or the initial ones of an open loop.
    pub connections: u32,
    /// The offered rate of an open loop, requests per second.
    pub rate_per_sec: Option<f64>,
    pub throughput_per_sec: f64,
    /// For a search, the geometric mean of the highest rate that held and the lowest that broke; the highest that held if none broke. 0
    /// if no rate can hold, `None` if that is undecided.
    pub max_rate_per_sec: Option<f64>,
    /// The distance between those two rates; `None` where no rate is known to hold.
    pub gap: Option<SearchGap>,
    /// CPU time of the service per request, in seconds; `None` where its processes were not sampled.
    pub cpu_sec: Option<f64>,
    pub succeeded: u64,
    /// Requests that ended.
    pub ended: u64,
    /// True if the generator was the limit: throughput and latency may be better than measured.
    pub lower_bound: bool,
    pub unusable: Option<Unusable>,
    /// Latencies in nanoseconds; empty for a search.
    pub latency: EncodedHistogram,
}

impl AbLoad {
    /// Extracts a load from a run.
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
        // The result of a search holds although its ladder failed; other figures are not used, since the service did not work.
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

/// The best step within the conditions, with its position. A step with more throughput that refuses most requests is not compared.
fn best_within(findings: &Findings) -> Option<(usize, &StepSummary)> {
    let chosen = chosen_step(findings)?.index;
    findings.steps.iter().enumerate().find(|(_, step)| step.index == chosen)
}

/// The rate that a search found; 0 if low rates broke the conditions too, or none was tried because none can hold.
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

/// True for a load that did not run to its end. The ladder of a search may be cut by its time budget; its figures stay valid.
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

/// The rounds in which both sides have a usable load, in order.
pub(super) fn rounds(loads: &[AbLoad]) -> Vec<(&AbLoad, &AbLoad)> {
    let mut by_round: BTreeMap<u32, [Option<&AbLoad>; 2]> = BTreeMap::new();
    for load in loads.iter().filter(|load| load.unusable.is_none()) {
        by_round.entry(load.round).or_default()[load.side as usize] = Some(load);
    }
    by_round.into_values().filter_map(|[a, b]| a.zip(b)).collect()
}
