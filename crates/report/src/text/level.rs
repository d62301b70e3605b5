//! The report of a single load level: its counts and its distributions.

use std::collections::BTreeMap;

use plimsoll_analyze::{Findings, Steadiness, StepSummary, TimeSummary};
use plimsoll_plan::{ArrivalProcess, Level, Load, RateProfile, Stage};
use plimsoll_record::{Phase, Run, StepEnd};
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, grouped, percent_text};

use super::paragraph::{blocks, fact, notes, wrapped};
use super::table::{Column, table};
use super::{claim, failures, generator, generators, hosts, origin, profile, slo, steps, traces, verdict};
use crate::amount::{
    NOT_KNOWN_NOTE, any_unknown, at_least, bound, connections, counted, if_known, list, load_of, percentile,
    seconds, span, throughput,
};

/// The maximum number of stages listed; the rest are counted.
const STAGES_LISTED: usize = 4;

/// Latency and service time of a closed loop are one row if they differ by less than this ratio.
const SAME_WITHIN: f64 = 0.01;

/// The report of `plimsoll run`.
pub(super) fn single(run: &Run, findings: &Findings) -> String {
    let Some(step) = findings.steps.first() else {
        return format!("{}No step was recorded.\n{}", origin::remarks(run, findings), origin::events(run));
    };
    blocks([
        origin::remarks(run, findings) + &headline(run, findings, step),
        counts(run, findings, step),
        times(findings, step),
        steps::requests(&findings.plan, step),
        steps::windows(step),
        verdict::limit(run, findings) + &slo::block(findings),
        profile::block(run, findings),
        hosts::block(run, findings),
        generators::block(run, findings),
        generator::block(run, findings),
        verdict::evidence(findings),
        failures::block(findings),
        traces::block(run),
        origin::events(run),
        origin::preflight(run, findings),
    ])
}

fn headline(run: &Run, findings: &Findings, step: &StepSummary) -> String {
    let (measured, whole) = windows(run, step);
    let success = step.success_ratio.map_or_else(|| "not known".to_owned(), percent_text) + &whole;
    let throughput = match findings.answered_late() {
        true => claim::only_late(findings),
        false if step.steadiness == Steadiness::Ramp => {
            let mean = at_least(step.throughput.value, findings.lower_bound);
            format!("{mean} requests/s on average{measured}, success {success}.")
        }
        false => {
            let throughput = throughput(step.throughput, findings.lower_bound);
            format!("{throughput}{measured}, success {success}.")
        }
    };
    let text = format!(
        "{} at {}: {throughput}{}{}",
        escape_control(&findings.plan.target.url),
        load_of(step),
        claim::target_lost(findings),
        if findings.answered_late() { String::new() } else { claim::settled(step, findings.lower_bound) },
    );
    wrapped("", "", &text)
}

/// Returns the duration of the load, including the time after the target was lost.
fn load_sec(run: &Run, step: &StepSummary) -> Option<f64> {
    let record = run.steps.iter().find(|record| record.index == step.index)?;
    Some(record.ended_ns.saturating_sub(record.began_ns) as f64 / 1e9)
}

/// Returns the windows of throughput and of success. They differ for a lost target: throughput covers the time until it
/// was lost, success every request of the load.
fn windows(run: &Run, step: &StepSummary) -> (String, String) {
    match (step.lost_at_sec, load_sec(run, step)) {
        (Some(_), Some(load_sec)) => (
            format!(" over the {} until the target was lost", seconds(step.measured_sec)),
            format!(" over all {} of the load", seconds(load_sec)),
        ),
        _ => Default::default(),
    }
}

fn counts(run: &Run, findings: &Findings, step: &StepSummary) -> String {
    let status = step.counts.status.iter().map(|(status, count)| format!("{status}: {}", grouped(count)));
    let status = list(status, " · ");
    let facts = [
        fact("load", &load(findings, step)),
        fact("time", &time(run, step)),
        fact("requests", &requests(step)),
        if status.is_empty() { status } else { fact("status", &status) },
        fact("bytes", &bytes(step, findings.lower_bound)),
        checks(findings, step),
        connects(step),
        if_known(step.rate_per_sec, |_| fact("backlog", &backlog(run, step))),
    ];
    facts.concat()
}

/// Describes the first stages of a rate profile.
fn stages(profile: &RateProfile) -> String {
    let text = |stage: &Stage| {
        let (from, to) = (count_text(stage.from_per_sec), count_text(stage.to_per_sec));
        let time = span(stage.duration);
        if from == to { format!("{from} for {time}") } else { format!("{from} to {to} in {time}") }
    };
    let stages = list(profile.stages().iter().take(STAGES_LISTED).map(text), ", then ");
    let rest = profile.stages().len().saturating_sub(STAGES_LISTED);
    let rest = if rest > 0 { format!(" and {}", counted(rest as u64, "more stage")) } else { String::new() };
    format!("{stages}{rest}, {} requests/s on average", count_text(profile.mean_per_sec()))
}

fn load(findings: &Findings, step: &StepSummary) -> String {
    let on_each = match step.depth {
        0 | 1 => String::new(),
        depth => format!(" with {} requests under way on each", grouped(depth.into())),
    };
    let opened = connections(step.connections) + &on_each;
    let reconnects = counted(step.counts.reconnects, "reconnect");
    match &findings.plan.load {
        Load::Single { level: Level::Open { profile, arrivals, .. }, .. } => {
            let spread = match arrivals {
                ArrivalProcess::Constant => "at equal gaps",
                ArrivalProcess::Poisson => "at random (Poisson)",
            };
            let rate = match profile.stages() {
                [] => format!("{} requests/s", count_text(profile.mean_per_sec())),
                _ => stages(profile),
            };
            format!("{rate} {spread}; {opened} at the start, {reconnects}")
        }
        _ if step.depth > 1 => format!("{opened}, each sends a request for each response; {reconnects}"),
        _ => format!("{opened}, each sends its next request after the response; {reconnects}"),
    }
}

/// Says how the load ended.
fn ending(run: &Run, step: &StepSummary) -> String {
    let end = match step.end {
        StepEnd::Steady => "ended when throughput was known",
        StepEnd::TimeLimit => "ended on time",
        StepEnd::RequestLimit => "ended after the requested number of requests",
        StepEnd::Stopped => "ended because no worker had more requests to send",
        StepEnd::Cut => "cut short",
        StepEnd::TargetLost => {
            let load_sec = load_sec(run, step).map(seconds);
            return load_sec.map_or_else(String::new, |load| format!("; the load was on for {load}"));
        }
    };
    format!("; {end}")
}

fn time(run: &Run, step: &StepSummary) -> String {
    let until = if step.end == StepEnd::TargetLost { " until the target was lost" } else { "" };
    let warmup = if step.warmup_sec > 0.0 {
        format!("after {} of warm-up", seconds(step.warmup_sec))
    } else {
        "no warm-up removed".to_owned()
    };
    format!(
        "{} measured{until}, {warmup}, {} to drain{}",
        seconds(step.measured_sec),
        seconds(step.drain_sec),
        ending(run, step)
    )
}

fn requests(step: &StepSummary) -> String {
    let counts = &step.counts;
    // No success, because of the status or of a failed check.
    let no_success = match counts.completed.saturating_sub(counts.ok) {
        0 => String::new(),
        count => format!(" · {} answered without success", grouped(count)),
    };
    format!(
        "{} due · {} sent · {} completed · {} ok{no_success} · {} failed",
        grouped(counts.intended),
        grouped(counts.sent),
        grouped(counts.completed),
        grouped(counts.ok),
        grouped(counts.failed.total())
    )
}

/// Lists every check of the plan, including those that all responses passed.
fn checks(findings: &Findings, step: &StepSummary) -> String {
    let line = |(index, check): (u16, &String)| {
        let count = match step.counts.checks.get(index) {
            0 => "passed by all".to_owned(),
            count => format!("failed by {}", counted(count, "response")),
        };
        fact("check", &format!("{}: {count}", escape_control(check)))
    };
    (0..).zip(&findings.plan.checks).map(line).collect()
}

/// Returns the times to open connections; empty if none was opened while measured.
fn connects(step: &StepSummary) -> String {
    if step.connect.count == 0 {
        return String::new();
    }
    let times = |times: &TimeSummary| {
        let (mean, longest) = (duration_text(times.mean_ns), duration_text(times.max_ns));
        match times.p99.ns {
            Some(p99) => format!("mean {mean}, p99 {}, at most {longest}", duration_text(p99)),
            None => format!("mean {mean}, at most {longest}"),
        }
    };
    let opened = counted(step.connect.count, "connection");
    let handshake = match step.handshake.count {
        0 => String::new(),
        _ => format!(
            "; TLS handshake {}; {} in total, {} resumed",
            times(&step.handshake),
            counted(step.counts.handshakes, "handshake"),
            grouped(step.counts.resumed)
        ),
    };
    fact("opening", &format!("{opened} opened while measured: {}{handshake}", times(&step.connect)))
}

fn bytes(step: &StepSummary, lower_bound: bool) -> String {
    format!(
        "{} received, {} sent; {}{}/s received while measured",
        bytes_text(step.counts.bytes_in as f64),
        bytes_text(step.counts.bytes_out as f64),
        bound(lower_bound),
        bytes_text(step.bytes_in_per_sec)
    )
}

/// Describes the requests that were due but not sent, summed over the workers.
fn backlog(run: &Run, step: &StepSummary) -> String {
    let mut by_interval: BTreeMap<u32, u64> = BTreeMap::new();
    let load = run.frames_of(step.index).filter(|frame| frame.head.phase == Phase::Measure);
    for frame in load {
        *by_interval.entry(frame.head.interval).or_default() += frame.head.backlog;
    }
    let last = by_interval.values().next_back().map_or_else(String::new, |last| grouped(*last));
    match by_interval.into_values().max() {
        None | Some(0) => "none: no request waited for a free connection".to_owned(),
        Some(most) => {
            let most = counted(most, "request");
            format!("up to {most} waited for a free connection, {last} when the load ended")
        }
    }
}

fn times(findings: &Findings, step: &StepSummary) -> String {
    if step.latency.count == 0 {
        return String::new();
    }
    let one = closed(findings) && alike(&step.latency, &step.service);
    let mut rows = vec![("latency", &step.latency)];
    rows.extend((!one).then_some(("service", &step.service)));
    let columns: [Column<'_, (&str, &TimeSummary)>; 12] = [
        ("", &|(name, _)| (*name).to_owned()),
        ("mean", &|(_, times)| duration_text(times.mean_ns)),
        ("stdev", &|(_, times)| duration_text(times.stdev_ns)),
        ("min", &|(_, times)| duration_text(times.min_ns)),
        ("p50", &|(_, times)| percentile(times.p50)),
        ("p75", &|(_, times)| percentile(times.p75)),
        ("p90", &|(_, times)| percentile(times.p90)),
        ("p95", &|(_, times)| percentile(times.p95)),
        ("p99", &|(_, times)| percentile(times.p99)),
        ("p99.9", &|(_, times)| percentile(times.p999)),
        ("max", &|(_, times)| duration_text(times.max_ns)),
        ("", &|_| String::new()),
    ];
    table(&rows, &columns) + &time_notes(one, &step.latency)
}

fn time_notes(one: bool, latency: &TimeSummary) -> String {
    let TimeSummary { p50, p75, p90, p95, p99, p999, .. } = *latency;
    let intervals = interval_note(latency);
    let meaning = match one {
        true => {
            "Latency: from the instant a request was due to its last byte. Service time, from its sending, is the same \
             here: each connection sends as soon as it is free."
        }
        false => {
            "Latency: from the instant a request was due to its last byte. Service time: from its sending. The difference \
             is the wait for a free connection."
        }
    };
    let unknown = any_unknown(&[p50, p75, p90, p95, p99, p999]).then_some(NOT_KNOWN_NOTE);
    notes(intervals.as_deref().into_iter().chain([meaning]).chain(unknown))
}

fn interval_note(latency: &TimeSummary) -> Option<String> {
    let named = [("p50", latency.p50), ("p99", latency.p99)];
    let known = named.into_iter().filter_map(|(name, percentile)| {
        let (lower, upper) = percentile.interval_ns?;
        Some(format!("{name} {} to {}", duration_text(lower), duration_text(upper)))
    });
    let known = list(known, ", ");
    (!known.is_empty()).then(|| format!("95 % intervals of latency: {known}."))
}

fn closed(findings: &Findings) -> bool {
    matches!(findings.plan.load, Load::Single { level: Level::Closed { .. }, .. })
}

fn alike(a: &TimeSummary, b: &TimeSummary) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= SAME_WITHIN * a.abs().max(b.abs());
    let p99 = match (a.p99.ns, b.p99.ns) {
        (Some(a), Some(b)) => near(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    near(a.mean_ns, b.mean_ns) && near(a.max_ns, b.max_ns) && p99
}
