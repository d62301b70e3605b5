//! How much the target holds.

use plimsoll_analyze::{Findings, Held, Knee, SloCheck};

use super::document::{Interval, document, value};

document! {
    /// How much the target holds.
    pub struct AnswerDocument(findings: &Findings) {
        /// The smallest tested number of connections within 5 % of the plateau; null if no plateau was reached.
        knee_connections: Option<u32> = knee(findings).map(|knee| knee.connections),
        /// Connections that would give the plateau if requests took no longer than at the lowest step: the plateau
        /// times that step's mean response time.
        knee_predicted: Option<f64> = knee(findings).map(|knee| knee.connections_predicted),
        /// The highest throughput of any step, requests per second; null if it was still growing at the last.
        plateau_per_sec: Option<f64> = knee(findings).map(|knee| knee.plateau.value),
        /// The 95 % interval of the plateau.
        plateau_interval: Interval = knee(findings).map(|knee| knee.plateau),
        /// Connections at which the plateau was measured.
        plateau_connections: Option<u32> = knee(findings).map(|knee| knee.plateau_connections),
        /// The highest throughput within the p99 and success limits of the SLO; null if no step met them, or none was given.
        max_within_slo_per_sec: Option<f64> = value(findings.slo.and_then(|slo| slo.throughput_within)),
        /// Its 95 % interval.
        interval: Interval = findings.slo.and_then(|slo| slo.throughput_within),
        /// Connections at which it was measured.
        connections: Option<u32> = best_connections(findings),
        /// True if the generator was the limit: every throughput here is a lower bound.
        lower_bound: bool = findings.lower_bound,
        /// The SLO and whether it held; null if none was given.
        slo: Option<SloDocument> = findings.slo.as_ref().map(SloDocument::new),
    }
}

document! {
    /// The SLO and whether it held. A limit is null where it was not given. Whether it held is null
    /// where too little is known.
    pub struct SloDocument(check: &SloCheck) {
        /// The limit of p99 in milliseconds.
        p99_ms: Option<f64> = check.slo.p99_ms,
        /// Whether p99 stayed within it.
        p99_held: Option<bool> = check.slo.p99_ms.and_then(|_| held(check.p99)),
        /// The minimum ratio of successful responses.
        success_ratio: Option<f64> = check.slo.success_ratio,
        /// Whether it was reached.
        success_held: Option<bool> = check.slo.success_ratio.and_then(|_| held(check.success)),
        /// The minimum throughput, requests per second.
        throughput_per_sec: Option<f64> = check.slo.throughput_per_sec,
        /// Whether it was reached within the other two limits.
        throughput_held: Option<bool> = check.slo.throughput_per_sec.and_then(|_| held(check.throughput)),
        /// Index of the step of the highest throughput within the limits of p99 and success.
        best_step: Option<u32> = check.best_step,
    }
}

/// The knee, if the ladder reached a plateau.
fn knee(findings: &Findings) -> Option<Knee> {
    findings.knee.filter(|knee| knee.reached)
}

fn best_connections(findings: &Findings) -> Option<u32> {
    let best = findings.slo?.best_step?;
    findings.steps.iter().find(|step| step.index == best).map(|step| step.connections)
}

fn held(held: Held) -> Option<bool> {
    match held {
        Held::Yes => Some(true),
        Held::No => Some(false),
        Held::Unknown => None,
    }
}
