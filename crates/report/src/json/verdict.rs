//! What limits the target, and the findings that can be cited one by one.

use plimsoll_analyze::{
    Estimate, Evidence, Findings, Knee, NextLimit, Part, Place, Proof, Suspect, Usl, UslFit, Verdict,
};

use super::document::{Interval, document, each, value};
use crate::amount::count_of;
use crate::words;

document! {
    /// One line of evidence.
    pub struct EvidenceDocument(what: impl Into<String>, value: f64, of: Option<f64>, at: impl Into<String>) {
        /// What was observed.
        what: String = what,
        /// Its value.
        value: f64 = value,
        /// Its capacity, or the value it is compared with.
        of: Option<f64> = of,
        /// Where.
        at: String = at,
    }
}

document! {
    /// Another limit that the evidence does not exclude.
    pub struct SuspectDocument(suspect: &Suspect) {
        /// The limit: a value of `limit` of a verdict.
        limit: &'static str = suspect.limit.name(),
        /// Where.
        #[serde(rename = "where")]
        place: String = suspect.place.to_string(),
        /// The throughput at which it stops growth, requests per second; null if that is not known.
        at_per_sec: Option<f64> = suspect.at_per_sec,
    }
}

document! {
    /// The limit that is reached next.
    pub struct NextLimitDocument(next: &NextLimit) {
        /// The limit: a value of `limit` of a verdict.
        limit: &'static str = next.limit.name(),
        /// Where.
        #[serde(rename = "where")]
        place: String = next.place.to_string(),
        /// The throughput at which it is reached, requests per second.
        at_per_sec: f64 = next.at_per_sec.value,
        /// The 95 % interval of that; null where too little is known for one.
        interval: Interval = next.at_per_sec,
    }
}

document! {
    /// An experiment on the verdict: a cap of a lab's host was raised, and the same load repeated.
    pub struct ProofDocument(proof: &Proof) {
        /// `proven`, `withdrawn` or `undecided`.
        outcome: &'static str = proof.outcome.name(),
        /// The host.
        host: String = &proof.raise.host,
        /// The cap that was raised: `cores`, `link_out`, `link_in`, `packets` or `memory`.
        cap: &'static str = proof.raise.cap.name(),
        /// The unit of its amounts.
        unit: &'static str = proof.raise.cap.unit(),
        /// Its amount before.
        before: u64 = proof.raise.before,
        /// Its amount after.
        after: u64 = proof.raise.after,
        /// Connections of the load.
        connections: u32 = proof.connections,
        /// Throughput before, requests per second.
        before_per_sec: f64 = proof.before_per_sec.value,
        /// Throughput after, requests per second; null if the load was not repeated.
        after_per_sec: Option<f64> = value(proof.after_per_sec),
        /// The second over the first.
        ratio: Option<f64> = value(proof.ratio),
        /// The 95 % interval of that.
        ratio_interval: Interval = proof.ratio,
        /// The ratio that the verdict predicts.
        predicted_ratio: f64 = proof.predicted_ratio,
    }
}

document! {
    /// A place in parts.
    pub struct PlaceDocument(place: &Place) {
        /// `host`, `process`, `thread`, `interface`, `group`, `device`, `core`, `component`, `listener`, `other_process`,
        /// `other_guests`, `others` (not known which), `generator`, `target`, `unwatched` (no probe) or `none`.
        kind: &'static str = place_kind(place),
        /// The host, or what stands for it: the target's authority, an address; empty for `none`.
        host: String = place.host_name(),
        /// The name of what it is of the host; empty for all of it.
        name: String = place.of_host().map_or("", Part::name),
    }
}

fn place_kind(place: &Place) -> &'static str {
    match place {
        Place::Generator => "generator",
        Place::Target(_) => "target",
        Place::Unwatched(_) => "unwatched",
        Place::Nowhere => "none",
        Place::Host { part, .. } => part_kind(part),
    }
}

fn part_kind(part: &Part) -> &'static str {
    match part {
        Part::Whole => "host",
        Part::Process(_) => "process",
        Part::Thread(_) => "thread",
        Part::Interface(_) => "interface",
        Part::Group(_) => "group",
        Part::Device(_) => "device",
        Part::Core(_) => "core",
        Part::Component(_) => "component",
        Part::Listener(_) => "listener",
        Part::OtherProcess(_) => "other_process",
        Part::OtherGuests => "other_guests",
        Part::Others => "others",
    }
}

document! {
    /// What limits the target.
    pub struct VerdictDocument(verdict: &Verdict) {
        /// `cpu`, `thread`, `quota`, `bandwidth`, `packets`, `disk`, `memory`, `connections`, `pool`, `lock`, `dependency`,
        /// `refused`, `generator`, `none` (not pushed to its limit) or `unknown`.
        limit: &'static str = verdict.limit.name(),
        /// Where: a host's name, or `host: process, thread or interface`; `generator`; where no host is known, the target's
        /// authority.
        #[serde(rename = "where")]
        place: String = verdict.place.to_string(),
        /// The same place in parts.
        #[serde(rename = "place")]
        place_parts: PlaceDocument = PlaceDocument::new(&verdict.place),
        /// `proven`, `measured`, `inferred` or `unknown`.
        confidence: &'static str = verdict.confidence.name(),
        /// The size of what is used up, such as the workers of a pool; null if it cannot be counted.
        size: Option<f64> = value(verdict.size),
        /// The 95 % interval of the size.
        size_interval: Interval = verdict.size,
        /// The evidence.
        evidence: Vec<EvidenceDocument> = each(&verdict.evidence, EvidenceDocument::from),
        /// Limits that the evidence does not exclude.
        also: Vec<SuspectDocument> = each(&verdict.also, SuspectDocument::new),
        /// The limit that is reached next; null where that is not known.
        next_limit: Option<NextLimitDocument> = verdict.next_limit.as_ref().map(NextLimitDocument::new),
        /// What is not the limit, and why.
        excluded: Vec<String> = words::excluded(verdict),
        /// What to try.
        advice: Vec<String> = words::advice(verdict),
        /// The verdict in one paragraph; empty where no host was sampled.
        text: String = words::paragraph(verdict),
        /// The result of the experiment on it; null if there was none.
        proof: Option<ProofDocument> = verdict.proof().map(ProofDocument::new),
    }
}

document! {
    /// A claim with its value, its interval and its evidence.
    pub struct FindingDocument(
        id: &'static str,
        what: &'static str,
        estimate: Estimate,
        evidence: Vec<EvidenceDocument>,
    ) {
        /// A stable name.
        id: &'static str = id,
        /// The same in words, with the unit.
        what: &'static str = what,
        /// The value; null where it could not be found.
        value: f64 = estimate.value,
        /// Its 95 % interval.
        interval: Interval = estimate,
        /// Its evidence.
        evidence: Vec<EvidenceDocument> = evidence,
    }
}

impl From<&Evidence> for EvidenceDocument {
    fn from(row: &Evidence) -> Self {
        Self::new(words::observed(&row.observed), row.value, row.of, words::at(&row.at))
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
    each(&findings.steps, |step| {
        let at = count_of(step.connections, "connection");
        EvidenceDocument::new("throughput in requests per second", step.throughput.value, None, at)
    })
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
    let what = "coefficient of determination of the fit";
    vec![EvidenceDocument::new(what, usl.r_squared, Some(1.0), "all steps")]
}
