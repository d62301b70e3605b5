//! Histories: recorded runs with their key figures, and where a metric changed.

use std::collections::BTreeMap;

use plimsoll_analyze::{LeftOutRuns, LevelChange, Measured, RunEntry, Trend, TrendLevel, TrendPoint};

use super::document::{Interval, document, each, ms, value};

/// The name of the schema of lists of runs.
pub const RUNS_SCHEMA: &str = "plimsoll/runs/1";
/// The name of the schema of trends.
pub const TREND_SCHEMA: &str = "plimsoll/trend/1";

document! {
    /// Recorded runs with their key figures.
    #[schemars(title = "Recorded Plimsoll runs")]
    pub struct RunsDocument(runs: &[RunEntry], unreadable: &[(String, String, bool)]) {
        /// Always `plimsoll/runs/1`.
        schema: &'static str = RUNS_SCHEMA,
        /// The runs, in the order asked for.
        runs: Vec<RunEntryDocument> = each(runs, RunEntryDocument::new),
        /// Run files without key figures: those that cannot be read, and those that can be read in part.
        unreadable: Vec<UnreadableRunDocument> = each(unreadable, |(file, why, in_part)| UnreadableRunDocument::new(file, why, *in_part)),
    }

    /// A run file that is damaged or cannot be read.
    pub struct UnreadableRunDocument(file: &str, reason: &str, damaged_in_part: bool) {
        /// The name of the file.
        file: String = file,
        /// Why, and what to do.
        reason: String = reason,
        /// True if a part of the run is intact: a page of it shows that part.
        damaged_in_part: bool = damaged_in_part,
    }

    /// One recorded run.
    pub struct RunEntryDocument(run: &RunEntry) {
        /// What identifies a run that ended in order, wherever it is kept; null for one that did not.
        id: Option<String> = run.id.clone(),
        /// The name of its file.
        file: String = &run.file,
        /// The run's name.
        name: String = &run.name,
        /// The command that made it.
        command: &'static str = run.command.name(),
        /// The URL that got the load, without the values of its query.
        target: String = &run.target,
        /// SHA-256 of the plan, in hex: equal hashes mean the same load.
        plan_hash: String = &run.plan_hash,
        /// The host that made the load.
        hostname: String = &run.machine.hostname,
        /// The version of Plimsoll that made it.
        tool_version: String = &run.tool_version,
        /// When it began, in milliseconds since 1970-01-01 UTC.
        started_unix_ms: u64 = run.started_unix_ms,
        /// True if the user, a lost target or a failed step ended it before all of its load was made.
        ended_early: bool = run.ended_early,
        /// Tags, values by key; empty for words.
        tags: BTreeMap<String, String> = run.tags.clone(),
        /// Requests served a second.
        throughput_per_sec: Option<f64> = known(run.figures.throughput_per_sec),
        /// Its 95 % interval.
        throughput_interval: Interval = interval(run.figures.throughput_per_sec),
        /// True if the target may serve more than that.
        lower_bound: bool = run.figures.is_least,
        /// The highest rate of a search that held the conditions; null without a search.
        held_per_sec: Option<f64> = known(run.figures.held_per_sec),
        /// The lowest rate of a search that did not; null where none was found, so that a higher one may hold.
        broken_per_sec: Option<f64> = run.figures.held_per_sec.and_then(|held| Some(held.interval?.1)),
        /// Median of latency: of a search at the rate that it found, null if it found none; of other runs at the step of the throughput.
        p50_ms: Option<f64> = known(run.figures.p50_ns).map(ms),
        /// 99th percentile of the same requests; null also if too few ended.
        p99_ms: Option<f64> = known(run.figures.p99_ns).map(ms),
        /// Successful responses over all of them; of a search that found no rate at the step of the throughput.
        success_ratio: Option<f64> = run.figures.success_ratio,
        /// CPU time of the target a request, in microseconds; null where its host was not sampled.
        cpu_us_per_request: Option<f64> = known(run.figures.cpu_per_request_ns).map(|ns| ns / 1e3),
        /// What limits the target, as in the verdict of the run.
        limit: String = &run.figures.limit,
        /// False if the load generator was not healthy.
        generator_healthy: bool = run.figures.generator_healthy,
    }

    /// Where a metric changed over comparable runs.
    #[schemars(title = "A Plimsoll trend")]
    pub struct TrendDocument(trend: &Trend, margin: Option<f64>, store_read: Option<bool>) {
        /// Always `plimsoll/trend/1`.
        schema: &'static str = TREND_SCHEMA,
        /// The metric: `qps`, `lambda` (the highest rate of a search), `p50`, `p99` or `cpu` (CPU time a request).
        metric: &'static str = trend.metric.name(),
        /// The unit of all its values: `requests_per_sec` or `ns`.
        unit: &'static str = trend.metric.unit(),
        /// The runs, oldest first.
        points: Vec<TrendPointDocument> = each(&trend.points, |point| TrendPointDocument::new(trend, point)),
        /// The levels between changes, one more than there are changes.
        levels: Vec<TrendLevelDocument> = each(&trend.levels, TrendLevelDocument::new),
        /// The changes, in order.
        changes: Vec<LevelChangeDocument> = each(&trend.changes, |change| LevelChangeDocument::new(trend, change)),
        /// Whether the newest level is worse than the one before by more than the margin; null without a margin, without the runs of
        /// a store that is away, and where it is not and newer runs have no value.
        regressed: Option<bool> = margin
            .map(|margin| trend.regressed(margin))
            .filter(|_| store_read != Some(false))
            .filter(|regressed| *regressed || trend.newer_without_value.count() == 0),
        /// Whether the store that was named could be read; null without one. The runs of one that could not are missing.
        store_read: Option<bool> = store_read,
        /// Runs of the same command that are newer than the last of `points` and have no value that counts, and newer files that cannot
        /// be read: it may be worse than ever. Other plans count too, and other machines where the newest run of any is followed.
        newer_without_value: usize = trend.newer_without_value.count(),
        /// Runs that were not compared.
        left_out: LeftOutDocument = LeftOutDocument::new(trend.left_out),
    }

    /// One run of a trend.
    pub struct TrendPointDocument(trend: &Trend, point: &TrendPoint) {
        /// The name of its file.
        file: String = &point.run.file,
        /// When it began, in milliseconds since 1970-01-01 UTC.
        started_unix_ms: u64 = point.run.started_unix_ms,
        /// The kernel of the machine that made the load.
        kernel: String = &point.run.machine.kernel,
        /// Tags, values by key; empty for words.
        tags: BTreeMap<String, String> = point.run.tags.clone(),
        /// The metric.
        value: f64 = point.value.value,
        /// Its 95 % interval within the run.
        interval: Interval = point.value,
        /// True if the target may serve more than that.
        lower_bound: bool = trend.metric.is_rate() && trend.is_bound(point),
        /// True if the latency of the target may be less than that: the load generator was the limit.
        upper_bound: bool = !trend.metric.is_rate() && trend.is_bound(point),
    }

    /// Runs between two changes.
    pub struct TrendLevelDocument(level: &TrendLevel) {
        /// The index of its first run in `points`.
        first: usize = level.points.start,
        /// How many runs it has.
        runs: usize = level.points.len(),
        /// Their mean.
        mean: f64 = level.mean.value,
        /// Its 95 % interval.
        interval: Interval = level.mean,
    }

    /// A change from one level to the next.
    pub struct LevelChangeDocument(trend: &Trend, change: &LevelChange) {
        /// The index in `points` of the first run of the new level.
        at: usize = change.at,
        /// The name of that run's file.
        file: String = &trend.points[change.at].run.file,
        /// The chance that runs of one level, in random order, show as great a difference; at least 0.001.
        p_value: f64 = change.p_value,
        /// The new level over the old one.
        ratio: Option<f64> = value(change.ratio),
        /// Its 95 % interval.
        ratio_interval: Interval = change.ratio,
        /// True if the change is for the worse; null where the level may be the same, as the interval of the ratio is missing or holds 1.
        worse: Option<bool> = change.worse,
        /// True if it may be none: most runs of the lower level of rates show lower bounds, or most of the higher one of times upper
        /// bounds, and those of the other level do not; of the highest rate whatever those of the other level show.
        bounded: bool = change.is_bounded,
    }

    /// Runs that were not compared, each counted by its first reason.
    pub struct LeftOutDocument(left_out: LeftOutRuns) {
        /// Their files cannot be read, or in part.
        unreadable: usize = left_out.unreadable,
        /// They did not end in order, or the user, a lost target or a failed step ended them early.
        unfinished: usize = left_out.unfinished,
        /// They have another plan than the newest run.
        other_plan: usize = left_out.other_plan,
        /// They were made by another machine than the newest run.
        other_machine: usize = left_out.other_machine,
        /// More than 5 % of their requests failed: their values are those of something else.
        failing: usize = left_out.failing,
        /// The metric is not known of them.
        without_value: usize = left_out.without_value,
        /// They are comparable, and older than as many runs as are compared.
        older: usize = left_out.older,
    }
}

fn known(measured: Option<Measured>) -> Option<f64> {
    measured.map(|measured| measured.value)
}

fn interval(measured: Option<Measured>) -> Interval {
    measured.and_then(|measured| measured.interval).into()
}
