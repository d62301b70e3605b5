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
        /// Run files without key figures, because they cannot be read, or only in part.
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
        /// The id of a run that ended in order, the same wherever the run is stored; null for a run that did not.
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
        /// Values by key; empty for a tag that is a word.
        tags: BTreeMap<String, String> = run.tags.clone(),
        /// Requests served per second.
        throughput_per_sec: Option<f64> = known(run.figures.throughput_per_sec),
        /// Its 95 % interval.
        throughput_interval: Interval = interval(run.figures.throughput_per_sec),
        /// True if the target may serve more than that.
        lower_bound: bool = run.figures.is_least,
        /// The highest rate of a search at which the conditions held; null without a search.
        held_per_sec: Option<f64> = known(run.figures.held_per_sec),
        /// The lowest rate of a search at which they did not; null if none was found, so that a higher rate may hold.
        broken_per_sec: Option<f64> = run.figures.held_per_sec.and_then(|held| Some(held.interval?.1)),
        /// Median latency: of a search at the rate that it found, null if it found none; of other runs at the step of the
        /// throughput.
        p50_ms: Option<f64> = known(run.figures.p50_ns).map(ms),
        /// 99th percentile of the same requests; null also if too few ended.
        p99_ms: Option<f64> = known(run.figures.p99_ns).map(ms),
        /// The success ratio; for a search that found no rate, at the step of the throughput.
        success_ratio: Option<f64> = run.figures.success_ratio,
        /// CPU time of the target per request, in microseconds; null where its host was not sampled.
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
        /// The metric: `qps`, `lambda` (the highest rate of a search), `p50`, `p99` or `cpu` (CPU time per request).
        metric: &'static str = trend.metric.name(),
        /// The unit of all its values: `requests_per_sec` or `ns`.
        unit: &'static str = trend.metric.unit(),
        /// The runs, oldest first.
        points: Vec<TrendPointDocument> = each(&trend.points, |point| TrendPointDocument::new(trend, point)),
        /// The levels between changes, one more than there are changes.
        levels: Vec<TrendLevelDocument> = each(&trend.levels, TrendLevelDocument::new),
        /// The changes, in order.
        changes: Vec<LevelChangeDocument> = each(&trend.changes, |change| LevelChangeDocument::new(trend, change)),
        /// Whether the newest level is worse than the one before by more than the margin. Null without a margin, if the
        /// store could not be read, and if the level is not worse but newer runs have no value.
        regressed: Option<bool> = margin
            .map(|margin| trend.regressed(margin))
            .filter(|_| store_read != Some(false))
            .filter(|regressed| *regressed || trend.newer_without_value.count() == 0),
        /// Whether the store that was named could be read; null if none was named. If it could not, its runs are missing.
        store_read: Option<bool> = store_read,
        /// The number of runs and unreadable files that are newer than the last of `points` and have no usable value, so
        /// that the metric may be worse than ever. Runs of the same command count, with any plan; those of other machines
        /// only if the newest run of any machine is followed.
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
        /// Values by key; empty for a tag that is a word.
        tags: BTreeMap<String, String> = point.run.tags.clone(),
        /// The value of the metric.
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
        /// The mean of its runs.
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
        /// The probability that runs of one level, in random order, show a difference this large; at least 0.001.
        p_value: f64 = change.p_value,
        /// The new level over the old one.
        ratio: Option<f64> = value(change.ratio),
        /// Its 95 % interval.
        ratio_interval: Interval = change.ratio,
        /// True if the change is for the worse; null if the interval of the ratio is missing or includes 1, so that the
        /// level may be the same.
        worse: Option<bool> = change.worse,
        /// True if there may be no change: most runs of the worse level show bounds (lower bounds of rates, upper bounds
        /// of times) and most of the other level do not. For the highest rate, the other level does not matter.
        bounded: bool = change.is_bounded,
    }

    /// Runs that were not compared, each counted by its first reason.
    pub struct LeftOutDocument(left_out: LeftOutRuns) {
        /// Their files cannot be read, or only in part.
        unreadable: usize = left_out.unreadable,
        /// They did not end in order, or the user, a lost target or a failed step ended them early.
        unfinished: usize = left_out.unfinished,
        /// They have another plan than the newest run.
        other_plan: usize = left_out.other_plan,
        /// They were made by another machine than the newest run.
        other_machine: usize = left_out.other_machine,
        /// More than 5 % of their requests failed, so that their values describe failures.
        failing: usize = left_out.failing,
        /// Their value of the metric is not known.
        without_value: usize = left_out.without_value,
        /// They are comparable, but older than the maximum number of runs to compare.
        older: usize = left_out.older,
    }
}

fn known(measured: Option<Measured>) -> Option<f64> {
    measured.map(|measured| measured.value)
}

fn interval(measured: Option<Measured>) -> Interval {
    measured.and_then(|measured| measured.interval).into()
}
