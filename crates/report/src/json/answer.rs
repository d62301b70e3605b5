//! How much the target holds.

use plimsoll_analyze::{Findings, Held, SloCheck};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite};

/// How much the target holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AnswerDocument {
    /// The smallest tested number of connections within 5 % of the plateau; null if no plateau was reached.
    pub knee_connections: Option<u32>,
    /// Connections that would give the plateau if requests took no longer than at the lowest step: the plateau
    /// times that step's mean response time.
    pub knee_predicted: Option<f64>,
    /// The highest throughput of any step, requests per second; null if it was still growing at the last.
    pub plateau_per_sec: Option<f64>,
    /// The 95 % interval of the plateau.
    pub plateau_interval: Option<[f64; 2]>,
    /// Connections at which the plateau was measured.
    pub plateau_connections: Option<u32>,
    /// The highest throughput within the p99 and success limits of the SLO; null if no step held them, or none was asked for.
    pub max_within_slo_per_sec: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Connections at which it was measured.
    pub connections: Option<u32>,
    /// True if the generator was the limit: every throughput here is a lower bound.
    pub lower_bound: bool,
    /// The SLO and whether it held; null if none was asked for.
    pub slo: Option<SloDocument>,
}

impl AnswerDocument {
    pub(super) fn of(findings: &Findings) -> Self {
        let knee = findings.knee.filter(|knee| knee.reached);
        let within = findings.slo.and_then(|slo| slo.throughput_within);
        let best = findings.slo.and_then(|slo| slo.best_step);
        let best = best.and_then(|index| findings.steps.iter().find(|step| step.index == index));
        Self {
            knee_connections: knee.map(|knee| knee.connections),
            knee_predicted: knee.and_then(|knee| finite(knee.connections_predicted)),
            plateau_per_sec: knee.and_then(|knee| finite(knee.plateau.value)),
            plateau_interval: knee.and_then(|knee| bounds(knee.plateau.interval)),
            plateau_connections: knee.map(|knee| knee.plateau_connections),
            max_within_slo_per_sec: within.and_then(|estimate| finite(estimate.value)),
            interval: within.and_then(|estimate| bounds(estimate.interval)),
            connections: best.map(|step| step.connections),
            lower_bound: findings.lower_bound,
            slo: findings.slo.as_ref().map(SloDocument::of),
        }
    }
}

/// The SLO and whether it held. Each part is null where it was not asked for; whether it held is null
/// where too little is known.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SloDocument {
    /// The limit of p99 in milliseconds.
    pub p99_ms: Option<f64>,
    /// Whether p99 stayed within it.
    pub p99_held: Option<bool>,
    /// The least ratio of successful responses.
    pub success_ratio: Option<f64>,
    /// Whether it was reached.
    pub success_held: Option<bool>,
    /// The least throughput, requests per second.
    pub throughput_per_sec: Option<f64>,
    /// Whether it was reached within the other two.
    pub throughput_held: Option<bool>,
    /// Index of the step of the highest throughput within the limits of p99 and success.
    pub best_step: Option<u32>,
}

impl SloDocument {
    fn of(check: &SloCheck) -> Self {
        let slo = &check.slo;
        Self {
            p99_ms: slo.p99_ms,
            p99_held: slo.p99_ms.and_then(|_| held(check.p99)),
            success_ratio: slo.success_ratio,
            success_held: slo.success_ratio.and_then(|_| held(check.success)),
            throughput_per_sec: slo.throughput_per_sec,
            throughput_held: slo.throughput_per_sec.and_then(|_| held(check.throughput)),
            best_step: check.best_step,
        }
    }
}

fn held(held: Held) -> Option<bool> {
    match held {
        Held::Yes => Some(true),
        Held::No => Some(false),
        Held::Unknown => None,
    }
}
