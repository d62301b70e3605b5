//! The document of a page: runs with all that was found in them, and their timelines, schema `plimsoll/page/1`.

use plimsoll_analyze::{Curve, Findings, Moment, Resource, StepKind, Timeline, step_kind};
use plimsoll_plan::Plan;
use plimsoll_record::{Run, Step};

use super::document::{document, each, ms};
use super::headline::headline;
use super::{Document, FlameDocument, HeadlineDocument, TogetherDocument, drawn};
use crate::ProfiledRun;
use crate::privacy::{Values, for_figures, shown_url};
use crate::{text, words};

document! {
    /// The content of a page.
    #[schemars(title = "A page of Plimsoll")]
    pub struct PageDocument(runs: Vec<PageRunDocument>, together: Option<TogetherDocument>) {
        /// Always `plimsoll/page/1`.
        schema: &'static str = "plimsoll/page/1",
        /// The summary of several runs, or tables; null for a page of one run.
        together: Option<TogetherDocument> = together,
        /// The runs.
        runs: Vec<PageRunDocument> = runs,
    }

    /// One run.
    pub struct PageRunDocument(run: &Run, findings: &Findings, timeline: &Timeline, values: Values) {
        /// Its name.
        name: String = &findings.plan.name,
        /// The URL of the target, without hidden values.
        target: String = shown_url(findings, values),
        /// The answer as the terminal prints it.
        text: String = text::short(run, &for_figures(findings, values), &text::Page::plain()),
        /// The throughput that the first sentences state.
        headline: HeadlineDocument = headline(findings),
        /// Everything recorded and found, as `--json` prints it.
        document: Document = Document::new(run, findings, values),
        /// Its CPU profile as a flame graph; null without a profile.
        flame: Option<FlameDocument> =
            ProfiledRun::from_run(run, findings).ok().map(|profiled| FlameDocument::of(&profiled)),
        /// The run over time.
        timeline: TimelineDocument = TimelineDocument::new(run, findings, timeline),
    }

    /// A run over time. Times are in seconds since the run began. Lists of one kind are equally long.
    pub struct TimelineDocument(run: &Run, findings: &Findings, timeline: &Timeline) {
        /// The length of a window of the load.
        window_sec: f64 = timeline.window_sec,
        /// The start of each window in which there was load.
        at_sec: Vec<f64> = each(&timeline.moments, |moment| moment.at_sec),
        /// Responses per second; null where no load was on.
        throughput_per_sec: Vec<Option<f64>> = each(&timeline.moments, |moment| moment.throughput_per_sec),
        /// Requests that fell due, per second; null where no load was on.
        due_per_sec: Vec<Option<f64>> = each(&timeline.moments, |moment| moment.due_per_sec),
        /// Requests that ended without success.
        unsuccessful: Vec<u64> = each(&timeline.moments, |moment| moment.counts.ended().saturating_sub(moment.counts.ok)),
        /// Requests sent and not answered, at the end of the window.
        in_flight: Vec<u64> = each(&timeline.moments, |moment| moment.in_flight),
        /// Requests due and not sent, at the end of the window.
        backlog: Vec<u64> = each(&timeline.moments, |moment| moment.backlog),
        /// Open connections, at the end of the window.
        connections: Vec<u64> = each(&timeline.moments, |moment| moment.connections),
        /// The median of latency in milliseconds; null where too few requests ended.
        p50_ms: Vec<Option<f64>> = each(&timeline.moments, |moment| moment.p50_ns.map(ms)),
        /// The 99th percentile, likewise.
        p99_ms: Vec<Option<f64>> = each(&timeline.moments, |moment| moment.p99_ns.map(ms)),
        /// The bounds of the latency buckets in milliseconds, one more than there are buckets; empty without a response.
        latency_bounds_ms: Vec<f64> = each(&timeline.bounds_ns, |bound| ms(*bound)),
        /// The number of requests that ended in each bucket, for each window.
        latency: Vec<LatencyCountsDocument> = each(&timeline.moments, LatencyCountsDocument::new),
        /// All steps, including those of a search and of overloads.
        steps: Vec<StepSpanDocument> = each(&run.steps, |step| StepSpanDocument::new(findings, step)),
        /// The length of a window of the hosts.
        host_window_sec: f64 = timeline.host_window_sec,
        /// The start of each window of the hosts.
        hosts_at_sec: Vec<f64> = timeline.hosts_at_sec.clone(),
        /// The use of resources. Of the parts of a host, such as its threads, only the most used are included.
        resources: Vec<ResourceOverTimeDocument> =
            each(drawn::resources(findings, timeline), ResourceOverTimeDocument::new),
        /// Garbage collection, stalls, waits and the CPU of processes. Of each kind on a host, only the highest are
        /// included.
        curves: Vec<CurveDocument> = each(drawn::curves(findings, timeline), CurveDocument::new),
    }

    /// The number of requests that ended in each latency bucket within a window.
    pub struct LatencyCountsDocument(moment: &Moment) {
        /// The first bucket that is not empty.
        from: usize = moment.latency.iter().position(|count| *count > 0).unwrap_or(0),
        /// The counts from that bucket on, without trailing zeros.
        counts: Vec<u64> = counted(&moment.latency),
    }

    /// The time span of a step.
    pub struct StepSpanDocument(findings: &Findings, step: &Step) {
        /// Its index in the run.
        index: u32 = step.index,
        /// `ladder`, `trial` of a search, `overload`, or `load` of a run with one level.
        kind: &'static str = kind(&findings.plan, step),
        /// The start of the load.
        began_sec: f64 = step.began_ns as f64 / 1e9,
        /// The end of the load.
        ended_sec: f64 = step.ended_ns as f64 / 1e9,
        /// When the last request had ended.
        drained_sec: f64 = step.drained_ns as f64 / 1e9,
        /// Connections of a closed loop, or the initial connections of an open loop.
        connections: u32 = step.connections,
        /// The offered rate of an open loop, requests per second.
        rate_per_sec: Option<f64> = step.rate_per_sec,
        /// For an overload, its highest rate over the highest within the conditions, 1 for that rate itself; null if no
        /// rate is known to hold, and for other steps.
        overload_factor: Option<f64> = overload_factor(findings, step),
        /// For an overload, `jump` or `ramp`; null for the rate itself and for other steps.
        onset: Option<&'static str> = onset(findings, step),
    }

    /// The use of one resource of a host over time.
    pub struct ResourceOverTimeDocument(resource: &Resource) {
        /// The host; `generator` for the machine that makes the load.
        host: String = &resource.host,
        /// The resource, as in `hosts` of the document.
        resource: &'static str = resource.kind.name(),
        /// The part of the host; empty for the host itself.
        of: String = resource.part.to_string(),
        /// The unit of `used` and `capacity`.
        unit: &'static str = resource.kind.unit(),
        /// The capacity; null where it is not known.
        capacity: Option<f64> = resource.capacity,
        /// How much was used in each window; null where it was not sampled.
        used: Vec<Option<f64>> = resource.used.clone(),
    }

    /// A metric of a host, or of a part of it, over time that is not the use of a resource.
    pub struct CurveDocument(curve: &Curve) {
        /// The host; `generator` for the machine that makes the load.
        host: String = &curve.host,
        /// The metric. Shares of the time: `gc_pauses`, `cpu_pressure`, `io_pressure`, `memory_pressure` (PSI, some),
        /// `stalled` and `starved` (the worst worker of the generator), `cpu_wait` (the share of the CPU time that
        /// processes of a host needed and did not get), `packet_time`. Other shares: `gc_threads`, of the CPU time of a
        /// process; `heap`, of its limit; `throttled`, of periods; `stolen`, of CPU time. Threads: `lock_waits` and
        /// `disk_waits`. Cores: `process_cpu`. Per second: `pages_fetched`, `queue_overflows` and `turned_away`.
        kind: &'static str = curve.kind.name(),
        /// The part of the host, such as the name of its processes; empty for the host itself.
        of: String = curve.part.to_string(),
        /// The unit of `values`: `ratio`, `threads`, `cores` or `per_sec`.
        unit: &'static str = curve.kind.unit(),
        /// The value in each window, to four decimal places; null where it was not sampled.
        values: Vec<Option<f64>> = each(&curve.values, |value| value.map(|value| (value * 1e4).round() / 1e4)),
    }
}

fn overload_factor(findings: &Findings, step: &Step) -> Option<f64> {
    let rate_per_sec = findings.overload.as_ref()?.rate_per_sec?;
    let is_overload = step_kind(&findings.plan, step) == StepKind::Overload;
    let highest = step.stages.iter().map(|stage| stage.to_per_sec).reduce(f64::max);
    highest.filter(|_| is_overload).map(|highest| highest / rate_per_sec)
}

fn onset(findings: &Findings, step: &Step) -> Option<&'static str> {
    let overloads = &findings.overload.as_ref()?.steps;
    overloads.iter().find(|found| found.index == step.index).map(|found| words::onset_name(found.onset))
}

fn counted(latency: &[u64]) -> Vec<u64> {
    let first = latency.iter().position(|count| *count > 0).unwrap_or(latency.len());
    let end = latency.iter().rposition(|count| *count > 0).map_or(first, |last| last + 1);
    latency[first..end].to_vec()
}

fn kind(plan: &Plan, step: &Step) -> &'static str {
    match step_kind(plan, step) {
        StepKind::Ladder => "ladder",
        StepKind::Trial => "trial",
        StepKind::Overload => "overload",
        StepKind::Load => "load",
    }
}
