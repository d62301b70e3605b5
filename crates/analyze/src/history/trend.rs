//! Finds where a metric changed over comparable runs.

use std::ops::Range;

use plimsoll_stats::change_points::{MIN_VALUES, change_points, level};
use plimsoll_stats::{Estimate, ratio};

use super::entry::RunEntry;
use super::metric::TrendMetric;

/// Which metric to follow, and which runs are comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrendOptions<'a> {
    pub metric: TrendMetric,
    /// Includes runs of other plans whose target, command and name are those of the newest run.
    pub any_plan: bool,
    /// Includes runs of other machines.
    pub any_machine: bool,
    /// The host whose newest run is the reference, if enough of its runs have the metric: a store may have newer runs of other hosts.
    /// `None` for the newest run of any host.
    pub hostname: Option<&'a str>,
    /// The most comparable runs that are used, the newest ones.
    pub runs_max: usize,
    /// Start times of runs whose files cannot be read, in milliseconds since 1970-01-01 UTC.
    pub unreadable_unix_ms: &'a [u64],
}

/// One run of a trend.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPoint {
    pub run: RunEntry,
    pub value: Estimate,
}

/// The runs between two changes.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendLevel {
    /// Indices of points.
    pub points: Range<usize>,
    /// The mean, with its 95 % interval.
    pub mean: Estimate,
}

/// A change from one level to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// The index of the first point of the new level.
    pub at: usize,
    /// The probability of a difference at least this great if runs of one level are randomly ordered; at least 0.001.
    pub p_value: f64,
    /// The new level over the old one.
    pub ratio: Option<Estimate>,
    /// Whether the new level is worse; `None` where the ratio has no interval or it includes 1, since the test also finds changes of
    /// the spread.
    pub worse: Option<bool>,
    /// True if there may be no change: most runs of the worse level are bounds, and, except for searches, most of the better level are
    /// not.
    pub is_bounded: bool,
}

/// The runs that were left out, each counted under the first reason that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOutRuns {
    /// Their files cannot be read.
    pub unreadable: usize,
    /// The runs were not sealed, or ended early.
    pub unfinished: usize,
    pub other_plan: usize,
    pub other_machine: usize,
    /// Too many of their requests failed for their values to describe the service.
    pub failing: usize,
    /// The metric is unknown.
    pub without_value: usize,
    /// Comparable, but older than the newest [`TrendOptions::runs_max`].
    pub older: usize,
}

/// Runs of the same command that are newer than the last point but have no usable value. The metric may be at its worst in them, as in a
/// search in which no rate held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewerRuns {
    /// Comparable runs in which the metric is unknown.
    pub comparable: usize,
    /// Comparable runs with too many failed requests.
    pub failing: usize,
    /// Comparable runs that were not sealed, or ended early.
    pub unfinished: usize,
    /// Runs of any command whose files cannot be read.
    pub unreadable: usize,
    /// Runs of another plan or machine; with a value, the newest of them would be the reference.
    pub others: usize,
}

impl NewerRuns {
    /// The sum of all counts.
    pub fn count(self) -> usize {
        self.comparable + self.failing + self.unfinished + self.unreadable + self.others
    }
}

/// A metric over comparable runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    pub metric: TrendMetric,
    /// Oldest first.
    pub points: Vec<TrendPoint>,
    /// One more than there are changes.
    pub levels: Vec<TrendLevel>,
    pub changes: Vec<LevelChange>,
    pub left_out: LeftOutRuns,
    pub newer_without_value: NewerRuns,
}

/// There are too few comparable runs to decide whether a metric changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a change needs {MIN_VALUES} comparable runs, and there are {found}")]
pub struct TooFewRuns {
    pub found: usize,
    pub left_out: LeftOutRuns,
}

impl Trend {
    /// True if the newest level is worse than the one before by more than `margin`, a ratio such as 0.05, with the whole interval of
    /// their ratio. False without an interval, and for a change that may be none.
    pub fn regressed(&self, margin: f64) -> bool {
        let worse = self.changes.last().filter(|change| change.worse == Some(true) && !change.is_bounded);
        let Some(change) = worse else { return false };
        let Some((low, high)) = change.ratio.and_then(|ratio| ratio.interval) else { return false };
        if self.metric.is_rate() { high < 1.0 - margin } else { low > 1.0 + margin }
    }

    /// The indices of points whose kernel differs from that of the previous point, on the same machine.
    pub fn kernel_changes(&self) -> Vec<usize> {
        let machine = |at: usize| &self.points[at].run.machine;
        let differs = |at: &usize| {
            machine(*at).hostname == machine(at - 1).hostname && machine(*at).kernel != machine(at - 1).kernel
        };
        (1..self.points.len()).filter(differs).collect()
    }

    /// The number of points that are bounds.
    pub fn bounds(&self) -> usize {
        self.points.iter().filter(|point| self.is_bound(point)).count()
    }

    /// True if a point is a bound: a lower one for rates, an upper one for times.
    pub fn is_bound(&self, point: &TrendPoint) -> bool {
        self.metric.is_bound(&point.run)
    }
}

/// Finds the changes of a metric over the runs that are comparable with the newest one.
///
/// # Errors
/// When there are too few comparable runs.
pub fn trend(runs: &[RunEntry], options: TrendOptions<'_>) -> Result<Trend, TooFewRuns> {
    let mut left_out = LeftOutRuns::default();
    let (mut points, newer_without_value) = comparable(runs, options, &mut left_out);
    points.sort_by_key(|point| point.run.started_unix_ms);
    left_out.older = points.len().saturating_sub(options.runs_max);
    points.drain(..left_out.older);
    if points.len() < MIN_VALUES {
        return Err(TooFewRuns { found: points.len(), left_out });
    }
    let values: Vec<f64> = points.iter().map(|point| point.value.value).collect();
    let found = change_points(&values);
    let ends = found.iter().map(|change| change.at).chain([values.len()]);
    let mut begin = 0;
    let levels: Vec<TrendLevel> = ends
        .map(|end| {
            let points = std::mem::replace(&mut begin, end)..end;
            TrendLevel { mean: level(&values[points.clone()]), points }
        })
        .collect();
    let mostly_bound = |level: &TrendLevel| {
        let points = &points[level.points.clone()];
        2 * points.iter().filter(|point| options.metric.is_bound(&point.run)).count() > points.len()
    };
    // At one load, two levels of bounds are comparable: the generator limits both.
    let is_of_searches = options.metric == TrendMetric::HighestRate;
    let changes = found.iter().zip(levels.windows(2)).map(|(change, pair)| {
        let (before, after) = (pair[0].mean, pair[1].mean);
        let falls = after.value < before.value;
        let (worse, better) =
            if falls == options.metric.is_rate() { (&pair[1], &pair[0]) } else { (&pair[0], &pair[1]) };
        let ratio = ratio(after, before);
        LevelChange {
            at: change.at,
            p_value: change.p_value,
            ratio,
            worse: is_worse(options.metric, ratio),
            is_bounded: mostly_bound(worse) && (is_of_searches || !mostly_bound(better)),
        }
    });
    let changes = changes.collect();
    Ok(Trend { metric: options.metric, points, levels, changes, left_out, newer_without_value })
}

fn is_worse(metric: TrendMetric, ratio: Option<Estimate>) -> Option<bool> {
    let (low, high) = ratio?.interval?;
    let falls = high < 1.0;
    (falls || low > 1.0).then_some(falls == metric.is_rate())
}

/// Why a run has no usable value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoValue {
    Unfinished,
    Failing,
    Unknown,
}

fn value(metric: TrendMetric, run: &RunEntry) -> Result<Estimate, NoValue> {
    if !run.is_whole() {
        return Err(NoValue::Unfinished);
    }
    let value = metric.of(run).ok_or(NoValue::Unknown)?;
    if metric.is_of_failures(run) { Err(NoValue::Failing) } else { Ok(value) }
}

/// The reference run, which is the newest with a value, and the host it was restricted to, if that host has enough runs.
fn newest<'a>(runs: &'a [RunEntry], options: TrendOptions<'a>) -> (Option<&'a RunEntry>, Option<&'a str>) {
    let metric = options.metric;
    let is_of = |run: &RunEntry, host: &str| run.machine.hostname == host;
    // A series of runs that all fail is followed, too.
    let has_runs = |host: &&str| {
        let followed = runs.iter().filter(|run| is_of(run, host) && metric.of(run).is_some());
        followed.count() >= MIN_VALUES
    };
    let host = options.hostname.filter(|_| !options.any_machine).filter(has_runs);
    let may_be = |run: &&RunEntry| host.is_none_or(|host| is_of(run, host)) && value(metric, run).is_ok();
    (runs.iter().filter(may_be).max_by_key(|run| run.started_unix_ms), host)
}

/// The runs that are comparable with the reference, and the newer ones without a value.
fn comparable(
    runs: &[RunEntry],
    options: TrendOptions<'_>,
    left_out: &mut LeftOutRuns,
) -> (Vec<TrendPoint>, NewerRuns) {
    let (newest, host) = newest(runs, options);
    let may_be_newest = |run: &RunEntry| host.is_none_or(|host| run.machine.hostname == host);
    let is_newer = |unix_ms: u64| newest.is_some_and(|newest| unix_ms > newest.started_unix_ms);
    let (mut points, mut newer) = (Vec::new(), NewerRuns::default());
    left_out.unreadable = options.unreadable_unix_ms.len();
    newer.unreadable = options.unreadable_unix_ms.iter().filter(|ms| is_newer(**ms)).count();
    for run in runs {
        let of_same_load = newest.is_none_or(|newest| is_same_load(run, newest, options.any_plan));
        let of_same_machine = options.any_machine
            || newest.map_or_else(|| may_be_newest(run), |newest| run.machine.is_same(&newest.machine));
        let is_comparable = of_same_load && of_same_machine;
        let (reason, newer_reason) = match value(options.metric, run) {
            Ok(value) if is_comparable => {
                points.push(TrendPoint { run: run.clone(), value });
                continue;
            }
            Err(NoValue::Unfinished) if is_comparable => (&mut left_out.unfinished, &mut newer.unfinished),
            Err(NoValue::Unfinished) => (&mut left_out.unfinished, &mut newer.others),
            _ if !of_same_load => (&mut left_out.other_plan, &mut newer.others),
            _ if !of_same_machine => (&mut left_out.other_machine, &mut newer.others),
            Err(NoValue::Failing) => (&mut left_out.failing, &mut newer.failing),
            Ok(_) | Err(NoValue::Unknown) => (&mut left_out.without_value, &mut newer.comparable),
        };
        *reason += 1;
        let is_of_command = newest.is_some_and(|newest| run.command == newest.command);
        if is_newer(run.started_unix_ms) && is_of_command && may_be_newest(run) {
            *newer_reason += 1;
        }
    }
    (points, newer)
}

fn is_same_load(run: &RunEntry, newest: &RunEntry, any_plan: bool) -> bool {
    let is_alike = || (&run.target, run.command, &run.name) == (&newest.target, newest.command, &newest.name);
    run.plan_hash == newest.plan_hash && run.command == newest.command || any_plan && is_alike()
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{RunCommand, Tags};
    use plimsoll_testkit::Noise;

    use super::*;
    use crate::{EntryMachine, Measured, RunFigures};

    fn run(index: usize, per_sec: f64) -> RunEntry {
        let exact = |value| Some(Measured { value, interval: None });
        RunEntry {
            id: Some(format!("{index:064}")),
            file: format!("api-{index}.plimsoll"),
            name: "api".to_owned(),
            command: RunCommand::Answer,
            target: "http://127.0.0.1:8080/".to_owned(),
            plan_hash: "plan".to_owned(),
            machine: EntryMachine { hostname: "ci".to_owned(), kernel: "Linux".to_owned(), cores: 2 },
            tool_version: "0.1.0".to_owned(),
            started_unix_ms: 1_000 * index as u64,
            ended_early: false,
            tags: Tags::default(),
            figures: RunFigures {
                throughput_per_sec: exact(per_sec),
                is_least: false,
                held_per_sec: None,
                p50_ns: exact(1e9 / per_sec),
                p99_ns: exact(1e10 / per_sec),
                success_ratio: Some(1.0),
                cpu_per_request_ns: None,
                limit: "cpu".to_owned(),
                generator_healthy: true,
            },
            limit_phrase: "CPU of web".to_owned(),
        }
    }

    /// Forty runs of 1 % noise, the last fifteen lower by 5 %.
    fn runs() -> Vec<RunEntry> {
        let mut noise = Noise::new(1);
        let level = |index| if index < 25 { 1000.0 } else { 950.0 };
        (0..40).map(|index| run(index, level(index) * (1.0 + 0.01 * noise.normal()))).collect()
    }

    fn options(metric: TrendMetric) -> TrendOptions<'static> {
        TrendOptions {
            metric,
            any_plan: false,
            any_machine: false,
            hostname: None,
            runs_max: 200,
            unreadable_unix_ms: &[],
        }
    }

    #[test]
    fn a_fall_of_throughput_is_worse_and_so_is_a_rise_of_latency() {
        for (metric, expected) in [(TrendMetric::Throughput, 0.95), (TrendMetric::P99, 1.0 / 0.95)] {
            let trend = trend(&runs(), options(metric)).unwrap();
            let [change] = trend.changes[..] else { panic!("{:?}", trend.changes) };
            let (low, high) = change.ratio.unwrap().interval.unwrap();
            assert!(change.at.abs_diff(25) <= 1 && change.p_value <= 0.01, "{change:?}");
            assert_eq!(change.worse, Some(true));
            assert!(low < expected && expected < high && high - low < 0.03, "{change:?}");
            assert!(trend.regressed(0.0) && trend.regressed(0.02) && !trend.regressed(0.08));
        }
    }

    #[test]
    fn a_rise_of_throughput_is_no_regression_and_a_later_fix_ends_one() {
        let mut runs = runs();
        runs.iter_mut().for_each(|run| run.started_unix_ms = 100_000 - run.started_unix_ms);
        let better = trend(&runs, options(TrendMetric::Throughput)).unwrap();
        assert!(better.changes[0].worse == Some(false) && !better.regressed(0.0));
        assert_eq!(better.changes[0].at, 15, "runs are in the order of their time");
    }

    #[test]
    fn searches_that_ended_before_a_rate_broke_are_no_regression() {
        let mut runs = runs();
        for (index, run) in runs.iter_mut().enumerate() {
            let value = run.figures.throughput_per_sec.unwrap().value;
            let interval = (index < 25).then_some((value, 1.05 * value));
            run.figures.held_per_sec = Some(Measured { value, interval });
        }
        let of_searches = trend(&runs, options(TrendMetric::HighestRate)).unwrap();
        assert_eq!(of_searches.bounds(), 15);
        assert!(of_searches.changes[0].is_bounded && !of_searches.regressed(0.0));
        assert!(trend(&runs, options(TrendMetric::Throughput)).unwrap().regressed(0.0));
    }

    #[test]
    fn a_rise_of_latency_that_the_generator_may_have_made_is_no_regression() {
        let limited_from = |first: usize| {
            let mut runs = runs();
            for run in &mut runs[first..] {
                (run.figures.is_least, run.figures.generator_healthy) = (true, false);
            }
            trend(&runs, options(TrendMetric::P99)).unwrap()
        };
        let newest = limited_from(25);
        assert!(newest.changes[0].is_bounded && newest.bounds() == 15 && !newest.regressed(0.0));
        assert!(limited_from(0).regressed(0.0), "the same generator was the limit of all of them");
        let mut unfinished = runs();
        unfinished[25..].iter_mut().for_each(|run| {
            (run.figures.is_least, run.figures.limit) = (true, "none".to_owned());
        });
        let unfinished = trend(&unfinished, options(TrendMetric::P99)).unwrap();
        assert!(unfinished.regressed(0.0), "a ladder that is too short adds nothing to its latency");
    }

    #[test]
    fn a_change_of_the_spread_alone_is_neither_worse_nor_better() {
        let mut noise = Noise::new(3);
        let spread = |index| if index < 25 { 0.002 } else { 0.05 };
        let runs: Vec<RunEntry> =
            (0..50).map(|index| run(index, 1000.0 * (1.0 + spread(index) * noise.normal()))).collect();
        for metric in [TrendMetric::Throughput, TrendMetric::P99] {
            let trend = trend(&runs, options(metric)).unwrap();
            assert!(trend.changes.iter().any(|change| change.at.abs_diff(25) <= 3), "{:?}", trend.changes);
            assert!(trend.changes.iter().all(|change| change.worse.is_none()), "{:?}", trend.changes);
            assert!(!trend.regressed(0.0));
        }
        let between = |low, high| Some(Estimate { value: 0.997, interval: Some((low, high)) });
        let worse = |ratio| is_worse(TrendMetric::Throughput, ratio);
        assert_eq!(worse(between(0.985, 1.009)), None);
        assert_eq!(worse(between(0.995, 0.999)), Some(true));
        assert_eq!(worse(Some(Estimate::exact(0.9))), None);
    }

    #[test]
    fn without_an_interval_nothing_is_a_regression() {
        let mut trend = trend(&runs(), options(TrendMetric::Throughput)).unwrap();
        let ratio = trend.changes[0].ratio.as_mut().unwrap();
        assert!(ratio.value < 0.96, "the bare value is worse");
        ratio.interval = None;
        assert!(!trend.regressed(0.0));
    }

    #[test]
    fn the_newest_runs_without_a_value_are_counted_and_those_of_other_plans_apart() {
        let mut runs = runs();
        for run in &mut runs {
            let value = run.figures.throughput_per_sec.unwrap().value;
            run.figures.held_per_sec = Some(Measured { value, interval: Some((value, 1.05 * value)) });
        }
        runs[10].figures.held_per_sec = None;
        runs[36..].iter_mut().for_each(|run| run.figures.held_per_sec = None);
        runs[38].plan_hash = "other".to_owned();
        runs[39].id = None;
        let found = trend(&runs, options(TrendMetric::HighestRate)).unwrap();
        let newer = NewerRuns { comparable: 2, unfinished: 1, others: 1, ..NewerRuns::default() };
        assert_eq!((found.newer_without_value, found.left_out.without_value), (newer, 3));
        runs[38].command = RunCommand::Run;
        let found = trend(&runs, options(TrendMetric::HighestRate)).unwrap();
        assert_eq!(found.newer_without_value.others, 0, "a run at one rate has no highest rate");
        let older = trend(&runs[..36], options(TrendMetric::HighestRate)).unwrap();
        assert_eq!((older.newer_without_value.count(), older.left_out.without_value), (0, 1));
    }

    #[test]
    fn only_runs_like_the_newest_are_compared_and_the_others_are_counted() {
        let mut runs = runs();
        runs[0].id = None;
        runs[1].plan_hash = "other".to_owned();
        runs[2].machine.hostname = "laptop".to_owned();
        runs[3].figures.throughput_per_sec = None;
        let one = trend(&runs, options(TrendMetric::Throughput)).unwrap();
        let expected = LeftOutRuns {
            unfinished: 1,
            other_plan: 1,
            other_machine: 1,
            without_value: 1,
            ..LeftOutRuns::default()
        };
        assert_eq!((one.points.len(), one.left_out), (36, expected));
        let all = TrendOptions { any_plan: true, any_machine: true, ..options(TrendMetric::Throughput) };
        assert_eq!(trend(&runs, all).unwrap().points.len(), 38);
    }

    #[test]
    fn a_service_that_fails_fast_is_no_better_and_leaves_it_open_whether_it_is_worse() {
        let mut runs = runs();
        for run in &mut runs[25..] {
            run.figures.throughput_per_sec = Some(Measured { value: 9_000.0, interval: None });
            run.figures.held_per_sec = run.figures.throughput_per_sec;
            run.figures.success_ratio = Some(0.05);
        }
        let found = trend(&runs, options(TrendMetric::Throughput)).unwrap();
        assert_eq!((found.points.len(), found.changes.len(), found.left_out.failing), (25, 0, 15));
        assert_eq!(found.newer_without_value, NewerRuns { failing: 15, ..NewerRuns::default() });
        let none = trend(&runs[25..], options(TrendMetric::P99)).unwrap_err();
        assert_eq!((none.found, none.left_out.failing), (0, 15));
        let within_conditions = trend(&runs, options(TrendMetric::HighestRate)).unwrap();
        assert_eq!(within_conditions.points.len(), 15, "its conditions say how many requests may fail");
    }

    #[test]
    fn a_run_that_ended_early_is_no_point_and_leaves_it_open_whether_the_newest_is_worse() {
        let mut runs = runs();
        (runs[5].ended_early, runs[38].ended_early, runs[39].id) = (true, true, None);
        let found = trend(&runs, options(TrendMetric::Throughput)).unwrap();
        assert_eq!((found.points.len(), found.left_out.unfinished), (37, 3));
        assert_eq!(found.newer_without_value, NewerRuns { unfinished: 2, ..NewerRuns::default() });
    }

    #[test]
    fn files_that_cannot_be_read_are_counted_and_newer_ones_apart() {
        let runs = runs();
        let last_ms = runs[39].started_unix_ms;
        let unreadable = [0, last_ms, last_ms + 1];
        let options = TrendOptions { unreadable_unix_ms: &unreadable, ..options(TrendMetric::Throughput) };
        let found = trend(&runs, options).unwrap();
        assert_eq!((found.left_out.unreadable, found.newer_without_value.unreadable), (3, 1));
        assert_eq!(trend(&runs[..5], options).unwrap_err().left_out.unreadable, 3);
    }

    #[test]
    fn the_own_host_decides_which_series_is_followed() {
        let mut runs = runs();
        for run in &mut runs[20..] {
            run.machine.hostname = "colleague".to_owned();
        }
        runs[39].figures.throughput_per_sec = None;
        let of = |hostname| TrendOptions { hostname: Some(hostname), ..options(TrendMetric::Throughput) };
        let own = trend(&runs, of("ci")).unwrap();
        assert_eq!((own.points[0].run.machine.hostname.as_str(), own.left_out.other_machine), ("ci", 20));
        assert_eq!(own.newer_without_value.count(), 0, "theirs are another series");
        runs[0].machine.hostname = "a host of one run".to_owned();
        let theirs = trend(&runs, of("a host of one run")).unwrap();
        assert_eq!(theirs.points[0].run.machine.hostname, "colleague");
        let all = trend(&runs, TrendOptions { any_machine: true, ..of("ci") }).unwrap();
        assert_eq!((all.points.len(), all.newer_without_value.comparable), (39, 1));
        runs[0].machine.hostname = "ci".to_owned();
        runs[..20].iter_mut().for_each(|run| run.figures.success_ratio = Some(0.0));
        let failing = trend(&runs, of("ci")).unwrap_err();
        assert_eq!((failing.left_out.failing, failing.left_out.other_machine), (20, 20));
    }

    #[test]
    fn the_newest_of_the_comparable_runs_are_taken_and_the_older_ones_are_counted() {
        let mut runs = runs();
        // Newer runs of another plan take no place away.
        for run in &mut runs[20..39] {
            run.plan_hash = "other".to_owned();
        }
        let newest = TrendOptions { runs_max: 12, ..options(TrendMetric::Throughput) };
        let trend = trend(&runs, newest).unwrap();
        assert_eq!((trend.points.len(), trend.left_out.older, trend.left_out.other_plan), (12, 9, 19));
        assert_eq!(trend.points[0].run.file, "api-9.plimsoll");
    }

    #[test]
    fn another_kernel_is_the_same_machine_and_is_noted() {
        let mut runs = runs();
        runs[30..].iter_mut().for_each(|run| run.machine.kernel = "Linux 6.1.1".to_owned());
        let trend = trend(&runs, options(TrendMetric::Throughput)).unwrap();
        assert_eq!((trend.points.len(), trend.kernel_changes()), (40, vec![30]));
        runs[39].machine.cores = 4;
        let other = super::trend(&runs, options(TrendMetric::Throughput)).unwrap_err();
        assert_eq!((other.found, other.left_out.other_machine), (1, 39));
    }

    #[test]
    fn too_few_runs_show_nothing() {
        let few = trend(&runs()[..9], options(TrendMetric::Throughput)).unwrap_err();
        assert_eq!(few.found, 9);
        let none = trend(&runs(), options(TrendMetric::CpuPerRequest)).unwrap_err();
        assert_eq!((none.found, none.left_out.without_value), (0, 40));
    }
}
