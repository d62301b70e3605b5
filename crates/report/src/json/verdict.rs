//! The answer, the verdict and the single findings of a run. Also the verdict alone, of a run or of a table: schemas
//! `plimsoll/explanation/1` and `plimsoll/table/1`.

use plimsoll_analyze::{
    Demand, Estimate, Evidence, EvidenceUnit, Findings, GuessedColumn, Held, Knee, Law, LawBreach, NextLimit,
    Part, Percentile, Place, Proof, Resource, RowFinding, SloCheck, StepSummary, Suspect, TableFindings,
    TableReading, Usl, UslFit, Verdict,
};

use plimsoll_plan::LatencyLimit;

use super::document::{Interval, document, each, value};
use super::rows::BreakEvenDocument;
use super::series::{SeriesDocument, series};
use super::shown_in::ShownIn;
use crate::amount::connections;
use crate::{text, words};

document! {
    /// How much load the target sustains.
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
        /// The highest throughput within the latency and success limits of the SLO: after a search, the highest arrival
        /// rate that held; otherwise the throughput of the ladder's best step. Null if nothing met the limits, or none
        /// were given.
        max_within_slo_per_sec: Option<f64> = value(findings.slo.as_ref().and_then(|slo| slo.throughput_within)),
        /// The 95 % interval of `max_within_slo_per_sec`; after a search, the highest rate that held and the lowest that
        /// did not.
        interval: Interval = findings.slo.as_ref().and_then(|slo| slo.throughput_within),
        /// Connections of the ladder's best step within the limits.
        connections: Option<u32> = best_connections(findings),
        /// True if the generator was the limit: every throughput here is a lower bound.
        lower_bound: bool = findings.lower_bound,
        /// The SLO and whether it held; null if none was given.
        slo: Option<SloDocument> = findings.slo.as_ref().map(|check| SloDocument::new(check, findings)),
    }

    /// The SLO and whether it held. A limit is null if it was not given. Whether a limit held is null if too little is
    /// known.
    pub struct SloDocument(check: &SloCheck, findings: &Findings) {
        /// Each condition in words, as in the text report, at the load of its first sentences; empty if no request
        /// succeeded. `latency` may be of another load: the one that decides the conditions.
        conditions: Vec<ConditionDocument> = conditions(findings),
        /// The limits of latency, the lowest percentile first.
        latency: Vec<LatencyLimitDocument> = latency_limits(check, text::judged_step(findings)),
        /// The minimum ratio of successful responses.
        success_ratio: Option<f64> = check.slo.success_ratio,
        /// Whether the success ratio was reached.
        success_held: Option<bool> = check.slo.success_ratio.and_then(|_| held(check.success)),
        /// The success ratio at the load that decides the conditions; null if no request ended.
        success_seen: Option<f64> = text::judged_step(findings).and_then(|step| step.success_ratio),
        /// The minimum throughput, requests per second.
        throughput_per_sec: Option<f64> = check.slo.throughput_per_sec,
        /// Whether this throughput was reached within the other limits.
        throughput_held: Option<bool> = check.slo.throughput_per_sec.and_then(|_| held(check.throughput)),
        /// Index of the step of the highest throughput within the limits of latency and success.
        best_step: Option<u32> = check.best_step,
    }

    /// A condition in words.
    pub struct ConditionDocument(is_held: Held, text: String) {
        /// Whether it held; null where too little is known.
        held: Option<bool> = held(is_held),
        /// The measured value and the limit: `p99 23.5 ms (limit 500 ms)`.
        text: String = text,
    }

    /// A limit of latency.
    pub struct LatencyLimitDocument(limit: &LatencyLimit, is_held: Held, seen: Option<Percentile>) {
        /// Which percentile, from 0 to 100; 100 is the longest time.
        percentile: f64 = limit.percent,
        /// Its limit in milliseconds.
        limit_ms: f64 = limit.limit_ms,
        /// Whether it stayed within the limit; null where too little is known.
        held: Option<bool> = held(is_held),
        /// The percentile at the load that decides the conditions, in milliseconds; null where too little is known.
        seen_ms: Option<f64> = seen.and_then(|seen| seen.ns).map(|ns| ns / 1e6),
    }

    /// One line of evidence.
    pub struct EvidenceDocument(
        what: impl Into<String>,
        unit: EvidenceUnit,
        value: f64,
        of: Option<f64>,
        at: impl Into<String>,
        shown_in: ShownIn,
        series: Vec<SeriesDocument>,
    ) {
        /// What was observed.
        what: String = what,
        /// The unit of `value` and `of`: `ratio` (of 1), `count`, `cores`, `per_sec` (requests or connections),
        /// `bits_per_sec`, `packets_per_sec`, `bytes_per_sec`, `sec` or `ms`.
        unit: &'static str = unit.name(),
        /// The observed value.
        value: f64 = value,
        /// The capacity, or another value to compare `value` with.
        of: Option<f64> = of,
        /// Where it was observed, such as at which step.
        at: String = at,
        /// The part of a page that shows it.
        shown_in: ShownIn = shown_in,
        /// The series in the timeline of a page that show it over time, the best first. A page has only series that were
        /// sampled.
        series: Vec<SeriesDocument> = series,
    }

    /// Another limit that the evidence does not exclude.
    pub struct SuspectDocument(suspect: &Suspect) {
        /// The limit: a value of `limit` of a verdict.
        limit: &'static str = suspect.limit.name(),
        /// The place of the limit.
        #[serde(rename = "where")]
        place: String = suspect.place.to_string(),
        /// The throughput at which this limit stops growth, requests per second; null if it is not known.
        at_per_sec: Option<f64> = suspect.at_per_sec,
    }

    /// The limit that is reached next.
    pub struct NextLimitDocument(next: &NextLimit) {
        /// The limit: a value of `limit` of a verdict.
        limit: &'static str = next.limit.name(),
        /// The place of the limit.
        #[serde(rename = "where")]
        place: String = next.place.to_string(),
        /// The throughput at which it is reached, requests per second.
        at_per_sec: f64 = next.at_per_sec.value,
        /// The 95 % interval of `at_per_sec`; null if too little is known.
        interval: Interval = next.at_per_sec,
    }

    /// An experiment on the verdict: a cap of a lab's host was raised, and the same load repeated.
    pub struct ProofDocument(proof: &Proof) {
        /// `proven`, `withdrawn` or `undecided`.
        outcome: &'static str = proof.outcome.name(),
        /// The host whose cap was raised.
        host: String = &proof.raise.host,
        /// The cap that was raised: `cores`, `link_out`, `link_in`, `packets` or `memory`.
        cap: &'static str = proof.raise.cap.name(),
        /// The unit of `before` and `after`.
        unit: &'static str = proof.raise.cap.unit(),
        /// The cap before it was raised.
        before: u64 = proof.raise.before,
        /// The cap after it was raised.
        after: u64 = proof.raise.after,
        /// Connections of the load.
        connections: u32 = proof.connections,
        /// Throughput before, requests per second.
        before_per_sec: f64 = proof.before_per_sec.value,
        /// Throughput after, requests per second; null if the load was not repeated.
        after_per_sec: Option<f64> = value(proof.after_per_sec),
        /// `after_per_sec` over `before_per_sec`.
        ratio: Option<f64> = value(proof.ratio),
        /// The 95 % interval of `ratio`.
        ratio_interval: Interval = proof.ratio,
        /// The ratio that the verdict predicts.
        predicted_ratio: f64 = proof.predicted_ratio,
    }

    /// A place in parts.
    pub struct PlaceDocument(place: &Place) {
        /// `host`, `process`, `thread`, `interface`, `group`, `device`, `core`, `component`, `listener`, `other_process`,
        /// `other_guests`, `others` (not known which), `generator`, `target`, `unwatched` (no probe) or `none`.
        kind: &'static str = place_kind(place),
        /// The host, or what stands for it: the target's authority, an address; empty for `none`.
        host: String = place.host_name(),
        /// The name of the part of the host, such as a process; empty for the whole host.
        name: String = place.of_host().map(Part::to_string).unwrap_or_default(),
    }

    /// What limits the target.
    pub struct VerdictDocument(verdict: &Verdict) {
        /// `cpu`, `thread`, `quota`, `bandwidth`, `packets`, `disk`, `memory`, `connections`, `pool`, `lock`, `dependency`,
        /// `refused`, `generator`, `none` (not pushed to its limit) or `unknown`.
        limit: &'static str = verdict.limit.name(),
        /// Where: a host's name, or `host: process, thread or interface`; `generator`; where no host is known, the target's
        /// authority.
        #[serde(rename = "where")]
        place: String = verdict.place.to_string(),
        /// The place in parts.
        #[serde(rename = "place")]
        place_parts: PlaceDocument = PlaceDocument::new(&verdict.place),
        /// `proven`, `measured`, `inferred` or `unknown`.
        confidence: &'static str = verdict.confidence.name(),
        /// The size of the exhausted resource, such as the number of workers of a pool; null if it cannot be counted.
        size: Option<f64> = value(verdict.size),
        /// The 95 % interval of the size.
        size_interval: Interval = verdict.size,
        /// The evidence.
        evidence: Vec<EvidenceDocument> = each(&verdict.evidence, EvidenceDocument::from),
        /// Limits that the evidence does not exclude.
        also: Vec<SuspectDocument> = each(&verdict.also, SuspectDocument::new),
        /// The limit that is reached next; null where that is not known.
        next_limit: Option<NextLimitDocument> = verdict.next_limit.as_ref().map(NextLimitDocument::new),
        /// What is ruled out as the limit, and why.
        excluded: Vec<String> = words::excluded(verdict),
        /// What to try.
        advice: Vec<String> = words::advice(verdict),
        /// The verdict in one paragraph; empty where no host was sampled.
        text: String = words::paragraph(verdict),
        /// The experiment that tested the verdict; null if there was none.
        proof: Option<ProofDocument> = verdict.proof().map(ProofDocument::new),
    }

    /// A claim with its value, its interval and its evidence.
    pub struct FindingDocument(
        id: &'static str,
        what: &'static str,
        estimate: Estimate,
        evidence: Vec<EvidenceDocument>,
    ) {
        /// A stable name.
        id: &'static str = id,
        /// The finding in words, with the unit.
        what: &'static str = what,
        /// The value; null if it could not be determined.
        value: f64 = estimate.value,
        /// Its 95 % interval.
        interval: Interval = estimate,
        /// Its evidence.
        evidence: Vec<EvidenceDocument> = evidence,
    }

    /// How much of a resource one request uses, by U = U₀ + D·X.
    pub struct DemandDocument(demand: &Demand) {
        /// D, in the resource's unit times seconds.
        per_request: f64 = demand.per_request.value,
        /// The 95 % interval of D; null where too little is known for one.
        per_request_interval: Interval = demand.per_request,
        /// U₀, the use without requests.
        idle: f64 = demand.idle,
        /// The throughput at which the resource is full, requests per second; null where it is not known.
        at_per_sec: Option<f64> = value(demand.at_per_sec),
        /// The 95 % interval of `at_per_sec`.
        at_per_sec_interval: Interval = demand.at_per_sec,
        /// `holds`, `broken` (use does not grow with throughput) or `untested`.
        #[schemars(with = "String")]
        law: Law = demand.law,
    }

    /// One resource of one host over the steps.
    pub struct ResourceDocument(resource: &Resource) {
        /// The host; `generator` for the machine that makes the load.
        host: String = &resource.host,
        /// Its kind: `cpu`, `core`, `thread`, `quota`, `bandwidth_out` and so on.
        resource: &'static str = resource.kind.name(),
        /// The part of the host: a thread, an interface, a device; empty for the host itself.
        detail: String = resource.part.to_string(),
        /// The unit of `capacity` and `used`.
        unit: &'static str = resource.kind.unit(),
        /// The capacity; null where it is not known.
        capacity: Option<f64> = resource.capacity,
        /// How much was used in each step; null where it was not sampled.
        used: Vec<Option<f64>> = resource.used.clone(),
        /// What one request uses; null for a resource that requests do not consume.
        demand: Option<DemandDocument> = resource.demand.as_ref().map(DemandDocument::new),
    }

    /// The verdict of a run, with the resources that it follows from.
    #[schemars(title = "A Plimsoll run, explained")]
    pub struct ExplanationDocument(findings: &Findings) {
        /// Always `plimsoll/explanation/1`.
        schema: &'static str = "plimsoll/explanation/1",
        /// What limits the target.
        verdict: VerdictDocument = VerdictDocument::new(&findings.verdict),
        /// All resources of all hosts that were sampled.
        resources: Vec<ResourceDocument> = each(&findings.resources, ResourceDocument::new),
    }

    /// What was found in one row of a table.
    pub struct RowDocument(finding: &RowFinding) {
        /// The name of the row; empty if it has none.
        label: String = &finding.label,
        /// What limits the target in this row; always inferred, or unknown.
        verdict: VerdictDocument = VerdictDocument::new(&finding.verdict),
        /// How the row breaks Little's law; null if it does not, or if too little of it is known.
        littles_law: Option<BreachDocument> = finding.breach.as_ref().map(BreachDocument::new),
    }

    /// A row whose connections, throughput and response time are inconsistent.
    pub struct BreachDocument(breach: &LawBreach) {
        /// Requests under way: throughput times response time.
        under_way: f64 = breach.under_way,
        /// Connections, as the table gives them.
        connections: f64 = breach.connections,
        /// What the inconsistency means, in words.
        meaning: String = words::breach_meaning(breach),
    }

    /// A column of a table that was recognised by its header.
    pub struct GuessedColumnDocument(guess: &GuessedColumn) {
        /// What the column contains, as `--map` writes it: `qps`, `web.cpu_percent`.
        meaning: String = &guess.meaning,
        /// The name of the column.
        column: String = &guess.column,
    }

    /// What was found in a table of measurements.
    #[schemars(title = "A table of measurements, explained by Plimsoll")]
    pub struct TableDocument(findings: &TableFindings, reading: &TableReading) {
        /// Always `plimsoll/table/1`.
        schema: &'static str = "plimsoll/table/1",
        /// Columns that were recognised by their headers.
        guessed: Vec<GuessedColumnDocument> = each(&reading.guessed, GuessedColumnDocument::new),
        /// How the table was read, in words: recognised columns, left-out rows, cells that are not numbers.
        reading: Vec<String> = words::table_reading(reading),
        /// The rows without a throughput, from 1; they are not in `rows`.
        left_out: Vec<usize> = each(&reading.left_out, |row| row.row),
        /// The rows that have a throughput, in the table's order.
        rows: Vec<RowDocument> = each(&findings.rows, RowDocument::new),
        /// Conclusions from several rows, in words.
        conclusions: Vec<String> = words::conclusions(findings),
        /// The loads at which a tier in front starts to limit the tiers behind it, from rows whose requests are held for
        /// a known time.
        break_evens: Vec<BreakEvenDocument> = each(&findings.break_evens, BreakEvenDocument::new),
    }
}

/// The knee, if the ladder reached a plateau.
fn knee(findings: &Findings) -> Option<Knee> {
    findings.knee.filter(|knee| knee.reached)
}

fn best_connections(findings: &Findings) -> Option<u32> {
    let best = findings.slo.as_ref()?.best_step?;
    findings.steps.iter().find(|step| step.index == best).map(|step| step.connections)
}

/// Returns each condition with the values measured at the load of the report's first sentences.
fn conditions(findings: &Findings) -> Vec<ConditionDocument> {
    let all = text::short::conditions(findings);
    each(&all, |condition| ConditionDocument::new(condition.held, condition.short_text()))
}

/// Returns each latency limit, with the percentile measured at the load that was judged.
fn latency_limits(check: &SloCheck, judged: Option<&StepSummary>) -> Vec<LatencyLimitDocument> {
    let seen = |index: usize| judged.and_then(|step| step.limited.get(index)).copied();
    let limits = check.slo.latency.iter().zip(&check.latency).enumerate();
    limits.map(|(index, (limit, held))| LatencyLimitDocument::new(limit, *held, seen(index))).collect()
}

fn held(held: Held) -> Option<bool> {
    match held {
        Held::Yes => Some(true),
        Held::No => Some(false),
        Held::Unknown => None,
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
        Part::Core(_) | Part::Cores(_) => "core",
        Part::Thread { .. } | Part::SoleThread(_) | Part::ComponentThread { .. } => "thread",
        Part::Process(_) | Part::Processes(_) => "process",
        Part::OtherProcess(_) => "other_process",
        Part::Group(_) | Part::GroupOf(_) => "group",
        Part::Interface(_) => "interface",
        Part::Device(_) => "device",
        Part::Component { .. } => "component",
        Part::Listener(_) => "listener",
        Part::OtherGuests => "other_guests",
        Part::Others => "others",
    }
}

impl From<&Evidence> for EvidenceDocument {
    fn from(row: &Evidence) -> Self {
        let Evidence { observed, value, of, at } = row;
        let (what, shown_in) = (words::observed(observed), ShownIn::from(observed));
        Self::new(what, observed.unit(), *value, *of, words::at(at), shown_in, series(observed))
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
        let at = connections(step.connections);
        let what = "throughput in requests per second";
        EvidenceDocument::new(
            what,
            EvidenceUnit::PerSecond,
            step.throughput.value,
            None,
            at,
            ShownIn::Throughput,
            Vec::new(),
        )
    })
}

fn knee_findings(findings: &Findings, knee: &Knee) -> Vec<FindingDocument> {
    if !knee.reached {
        let what = "highest throughput seen, still growing, requests per second";
        return vec![FindingDocument::new("throughput_highest", what, knee.plateau, ladder(findings))];
    }
    let (plateau, connections) = (knee.plateau, exact(f64::from(knee.connections)));
    let fewest = "fewest tested connections within 5 % of the plateau";
    vec![
        FindingDocument::new("plateau", "highest throughput, requests per second", plateau, ladder(findings)),
        FindingDocument::new("knee", fewest, connections, ladder(findings)),
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
    let (value, of) = (usl.r_squared, Some(1.0));
    let shown_in = ShownIn::Throughput;
    vec![EvidenceDocument::new(what, EvidenceUnit::Share, value, of, "all steps", shown_in, Vec::new())]
}
