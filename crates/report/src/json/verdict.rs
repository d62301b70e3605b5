//! What limits the target, and the findings that can be cited one by one.

use plimsoll_analyze::{Estimate, Evidence, Findings, Knee, NextLimit, Proof, Suspect, Usl, UslFit, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::{bounds, finite};
use crate::amount::count_of;
use crate::words;

/// One line of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceDocument {
    /// What was looked at.
    pub what: String,
    /// What was seen.
    pub value: Option<f64>,
    /// Of what capacity, or against what.
    pub of: Option<f64>,
    /// Where.
    pub at: String,
}

impl EvidenceDocument {
    fn of(row: &Evidence) -> Self {
        Self {
            what: words::observed(&row.observed),
            value: finite(row.value),
            of: row.of.and_then(finite),
            at: words::at(&row.at),
        }
    }
}

/// Something that may be the limit as well.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuspectDocument {
    /// What it would be: a value of `limit`.
    pub limit: &'static str,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// At which throughput it stops growth, requests per second; null if that is not known.
    pub at_per_sec: Option<f64>,
}

impl SuspectDocument {
    fn of(suspect: &Suspect) -> Self {
        let at_per_sec = suspect.at_per_sec.and_then(finite);
        Self { limit: suspect.limit.name(), place: suspect.place.to_string(), at_per_sec }
    }
}

/// The limit that comes when this one is gone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextLimitDocument {
    /// What it is: a value of `limit`.
    pub limit: &'static str,
    /// Where.
    #[serde(rename = "where")]
    pub place: String,
    /// At which throughput, requests per second.
    pub at_per_sec: Option<f64>,
    /// The 95 % interval of that; null where too little is known for one.
    pub interval: Option<[f64; 2]>,
}

impl NextLimitDocument {
    fn of(next: &NextLimit) -> Self {
        Self {
            limit: next.limit.name(),
            place: next.place.to_string(),
            at_per_sec: finite(next.at_per_sec.value),
            interval: bounds(next.at_per_sec.interval),
        }
    }
}

/// An experiment on the verdict: a cap of a lab's host was raised, and the same load made again.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProofDocument {
    /// `proven`, `withdrawn` or `undecided`.
    pub outcome: &'static str,
    /// The host.
    pub host: String,
    /// What of it was raised: `cores`, `link_out`, `link_in`, `packets` or `memory`.
    pub cap: &'static str,
    /// The unit of its amounts.
    pub unit: &'static str,
    /// How much there was.
    pub before: u64,
    /// How much there is then.
    pub after: u64,
    /// Connections of the load.
    pub connections: u32,
    /// Its throughput before, requests per second.
    pub before_per_sec: Option<f64>,
    /// Its throughput then, requests per second; null if it was not made again.
    pub after_per_sec: Option<f64>,
    /// The second over the first.
    pub ratio: Option<f64>,
    /// The 95 % interval of that.
    pub ratio_interval: Option<[f64; 2]>,
    /// What the ratio should be by the verdict.
    pub foretold_ratio: Option<f64>,
}

impl ProofDocument {
    fn of(proof: &Proof) -> Self {
        Self {
            outcome: proof.outcome.name(),
            host: proof.raise.host.clone(),
            cap: proof.raise.cap.name(),
            unit: proof.raise.cap.unit(),
            before: proof.raise.before,
            after: proof.raise.after,
            connections: proof.connections,
            before_per_sec: finite(proof.before_per_sec.value),
            after_per_sec: proof.after_per_sec.and_then(|after| finite(after.value)),
            ratio: proof.ratio.and_then(|ratio| finite(ratio.value)),
            ratio_interval: proof.ratio.and_then(|ratio| bounds(ratio.interval)),
            foretold_ratio: finite(proof.predicted_ratio),
        }
    }
}

/// What limits the target.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VerdictDocument {
    /// `cpu`, `thread`, `quota`, `bandwidth`, `packets`, `disk`, `memory`, `connections`, `pool`, `lock`, `dependency`,
    /// `refused`, `generator`, `none` (not pushed to its limit) or `unknown`.
    pub limit: &'static str,
    /// Where: a host's name, or `host: process, thread or interface`; `generator`; where no host is known, the target's
    /// authority.
    #[serde(rename = "where")]
    pub place: String,
    /// `proven`, `measured`, `inferred` or `unknown`.
    pub confidence: &'static str,
    /// How many there are of what is used up, such as the workers of a pool; null where that is nothing to count.
    pub size: Option<f64>,
    /// The 95 % interval of the size.
    pub size_interval: Option<[f64; 2]>,
    /// What it rests on.
    pub evidence: Vec<EvidenceDocument>,
    /// What the evidence does not tell apart from it.
    pub also: Vec<SuspectDocument>,
    /// The limit that comes next; null where it cannot be told.
    pub next_limit: Option<NextLimitDocument>,
    /// What is not the limit, and why.
    pub excluded: Vec<String>,
    /// What to try.
    pub advice: Vec<String>,
    /// The verdict in one paragraph; empty where the load alone was looked at.
    pub text: String,
    /// What became of the experiment on it; null if there was none.
    pub proof: Option<ProofDocument>,
}

impl VerdictDocument {
    /// The document of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        Self {
            limit: verdict.limit.name(),
            place: verdict.place.to_string(),
            confidence: verdict.confidence.name(),
            size: verdict.size.and_then(|size| finite(size.value)),
            size_interval: verdict.size.and_then(|size| bounds(size.interval)),
            evidence: verdict.evidence.iter().map(EvidenceDocument::of).collect(),
            also: verdict.also.iter().map(SuspectDocument::of).collect(),
            next_limit: verdict.next_limit.as_ref().map(NextLimitDocument::of),
            excluded: words::excluded(verdict),
            advice: words::advice(verdict),
            text: words::paragraph(verdict),
            proof: verdict.proof().map(ProofDocument::of),
        }
    }
}

/// A claim with its value, its interval and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FindingDocument {
    /// A stable name.
    pub id: &'static str,
    /// The same in words, with the unit.
    pub what: &'static str,
    /// The value; null where it could not be found.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// What it rests on.
    pub evidence: Vec<EvidenceDocument>,
}

impl FindingDocument {
    fn new(
        id: &'static str,
        what: &'static str,
        estimate: Estimate,
        evidence: Vec<EvidenceDocument>,
    ) -> Self {
        Self { id, what, value: finite(estimate.value), interval: bounds(estimate.interval), evidence }
    }
}

fn exact(value: f64) -> Estimate {
    Estimate { value, interval: None }
}

/// The claims of a ladder: its plateau and knee, and the scalability law.
pub(super) fn findings(findings: &Findings) -> Vec<FindingDocument> {
    let knee = findings.knee.iter().flat_map(|knee| knee_findings(findings, knee));
    let usl = findings.usl.iter().flat_map(usl_findings);
    knee.chain(usl).collect()
}

/// Every step is evidence of the knee.
fn ladder(findings: &Findings) -> Vec<EvidenceDocument> {
    let row = |step: &plimsoll_analyze::StepSummary| EvidenceDocument {
        what: "throughput in requests per second".to_owned(),
        value: finite(step.throughput.value),
        of: None,
        at: count_of(step.connections, "connection"),
    };
    findings.steps.iter().map(row).collect()
}

fn knee_findings(findings: &Findings, knee: &Knee) -> Vec<FindingDocument> {
    if !knee.reached {
        let what = "highest throughput seen, still growing, requests per second";
        return vec![FindingDocument::new("throughput_highest", what, knee.plateau, ladder(findings))];
    }
    let connections = exact(f64::from(knee.connections));
    let knee_what = "fewest tested connections within 5 % of the plateau";
    vec![
        FindingDocument::new(
            "plateau",
            "highest throughput, requests per second",
            knee.plateau,
            ladder(findings),
        ),
        FindingDocument::new("knee", knee_what, connections, ladder(findings)),
    ]
}

fn usl_findings(fit: &UslFit) -> Vec<FindingDocument> {
    let UslFit::Fitted(usl) = fit else { return Vec::new() };
    let finding = |id, what, estimate| FindingDocument::new(id, what, estimate, fit_quality(usl));
    let peak = usl.peak.map(|peak| finding("usl_peak", "connections of the highest throughput", exact(peak)));
    let constants = [
        finding("usl_gamma", "throughput of one connection, requests per second", usl.gamma),
        finding("usl_alpha", "contention", usl.alpha),
        finding("usl_beta", "coherence", usl.beta),
    ];
    constants.into_iter().chain(peak).collect()
}

fn fit_quality(usl: &Usl) -> Vec<EvidenceDocument> {
    let what = "coefficient of determination of the fit".to_owned();
    vec![EvidenceDocument { what, value: finite(usl.r_squared), of: Some(1.0), at: "all steps".to_owned() }]
}
