//! Detects work without requests: times in which use is far above what the rate explains, such as a backup.

use plimsoll_stats::{line, mean};

use super::findings::{BackgroundWork, UseChange};
use super::regression::{Baseline, Point, highest_usage, rate_quantile};
use super::series::ProductionSeries;

/// The quantile of the rates above which no episode begins: use above the line at the highest rates may be a law that bends.
const RATES: f64 = 0.75;
/// Work in more than this share of all points is no exception, and is not separated.
const MAX_SHARE: f64 = 0.25;
/// How often the line is fitted again without the episodes, to find episodes that they hid.
const ROUNDS: usize = 4;
/// Extra use follows the rate if its slope is more than this fraction of mean use over mean rate: 1 for linear use, 0 for constant use.
const MIN_PROPORTION: f64 = 0.5;
/// A run of fewer instants is a spike.
const MIN_INSTANTS: usize = 2;
pub(super) const DAY_SEC: f64 = 86_400.0;
/// Episodes that begin within this time of each other, by time of day, are one job.
const SAME_TIME_SEC: f64 = 1_800.0;
const MIN_DAYS: usize = 3;

/// The points split into those without and with background work, and a summary of that work.
pub(super) struct Separated {
    pub(super) kept: Vec<Point>,
    pub(super) left_out: Vec<Point>,
    pub(super) work: Option<BackgroundWork>,
    /// Use far above the line up to the last point, which may not be temporary.
    pub(super) lasting: Option<UseChange>,
}

/// Separates background work from points of `series`.
pub(super) fn separated(points: &[Point], series: &ProductionSeries) -> Separated {
    let none = || Separated { kept: points.to_vec(), left_out: Vec::new(), work: None, lasting: None };
    let Some(quiet_rate) = rate_quantile(points, RATES) else { return none() };
    let Some((baseline, episodes)) = search(points, quiet_rate, series) else { return none() };
    let work = without_requests(episodes, trailing(points, &baseline));
    let is_work = |point: &Point| work.iter().any(|episode| episode.holds(point));
    let (left_out, kept): (Vec<Point>, Vec<Point>) = points.iter().copied().partition(is_work);
    if left_out.len() as f64 > MAX_SHARE * points.len() as f64 {
        return none();
    }
    let lasting = lasting(trailing(&kept, &baseline), &baseline, quiet_rate, series);
    let summary = (!work.is_empty()).then(|| summary(&work, series.step_sec));
    Separated { kept, left_out, work: summary, lasting }
}

/// Finds the episodes, and the line through the other points; `None` without a line.
fn search(points: &[Point], quiet_rate: f64, series: &ProductionSeries) -> Option<(Baseline, Vec<Episode>)> {
    let highest = highest_usage(points);
    let mut kept = points.to_vec();
    let mut found = None;
    for _ in 0..ROUNDS {
        let Some(baseline) = Baseline::new(&kept, highest) else { break };
        let episodes = episodes(points, &baseline, quiet_rate, series);
        let before = kept.len();
        kept = points.iter().filter(|point| !episodes.iter().any(|one| one.holds(point))).copied().collect();
        found = Some((baseline, episodes));
        if kept.len() == before {
            break;
        }
    }
    found
}

/// A run of neighbouring instants far above the line.
struct Episode {
    first: usize,
    last: usize,
    start_sec: f64,
    /// The rate, and the use above the line, at each instant.
    excess: Vec<(f64, f64)>,
}

impl Episode {
    fn holds(&self, point: &Point) -> bool {
        (self.first..=self.last).contains(&point.at)
    }
}

fn episodes(
    points: &[Point],
    baseline: &Baseline,
    quiet_rate: f64,
    series: &ProductionSeries,
) -> Vec<Episode> {
    let is_meant = |point: &&Point| point.rate <= quiet_rate && baseline.is_far(point);
    let far: Vec<&Point> = points.iter().filter(is_meant).collect();
    let runs = far.chunk_by(|a, b| b.at - a.at == 1).filter(|run| run.len() >= MIN_INSTANTS);
    runs.map(|run| Episode {
        first: run[0].at,
        last: run[run.len() - 1].at,
        start_sec: series.instant_sec(run[0].at),
        excess: run.iter().map(|point| (point.rate, baseline.excess(point))).collect(),
    })
    .collect()
}

/// The run of points at the end that are all far above the line.
fn trailing<'a>(points: &'a [Point], baseline: &Baseline) -> &'a [Point] {
    let count = points.iter().rev().take_while(|point| baseline.is_far(point)).count();
    &points[points.len() - count..]
}

/// Selects the episodes that are work without requests, in order of time. Left out is use that follows the rate, and use that does not
/// end, both of which a release causes; a daily job may be under way at the end. `trailing` are the points at the end far above the line.
fn without_requests(episodes: Vec<Episode>, trailing: &[Point]) -> Vec<Episode> {
    let starts: Vec<f64> = episodes.iter().map(|episode| episode.start_sec).collect();
    let daily = daily_at(&starts);
    let is_daily = |one: &Episode| daily.is_some_and(|at| apart(at, one.start_sec) <= SAME_TIME_SEC);
    let has_ended = |one: &Episode| !trailing.iter().any(|point| one.holds(point));
    let (jobs, others): (Vec<Episode>, Vec<Episode>) = episodes.into_iter().partition(is_daily);
    let mut groups = [jobs, others];
    groups.iter_mut().filter(|group| follows_rate(group)).for_each(Vec::clear);
    let [jobs, others] = groups;
    let mut work: Vec<Episode> = jobs.into_iter().chain(others.into_iter().filter(has_ended)).collect();
    work.sort_by_key(|episode| episode.first);
    work
}

/// True if the use above the line follows the rate rather than being one amount.
fn follows_rate(group: &[Episode]) -> bool {
    let points: Vec<(f64, f64)> = group.iter().flat_map(|episode| episode.excess.iter().copied()).collect();
    let mean_of = |value: fn(&(f64, f64)) -> f64| mean(&points.iter().map(value).collect::<Vec<f64>>());
    let proportion = mean_of(|point| point.1) / mean_of(|point| point.0);
    line::fit(&points).is_some_and(|line| line.slope - line.slope_half > MIN_PROPORTION * proportion)
}

/// The use above the line at the end. Use at the highest rates only may be a law that bends.
fn lasting(
    run: &[Point],
    baseline: &Baseline,
    quiet_rate: f64,
    series: &ProductionSeries,
) -> Option<UseChange> {
    let is_quiet = |point: &Point| point.rate <= quiet_rate;
    let first = run.first().filter(|_| run.len() >= MIN_INSTANTS && run.iter().any(is_quiet))?;
    let mean_of = |value: fn(&Point) -> f64| mean(&run.iter().map(value).collect::<Vec<f64>>());
    let rate = mean_of(|point| point.rate);
    let change = UseChange {
        since_sec: series.instant_sec(first.at),
        rate,
        before: baseline.usage_at(rate),
        after: mean_of(|point| point.usage),
        is_judged_alone: false,
    };
    change.counts().then_some(change)
}

fn summary(work: &[Episode], step_sec: f64) -> BackgroundWork {
    let extra: Vec<f64> = work.iter().flat_map(|episode| episode.excess.iter().map(|one| one.1)).collect();
    let starts: Vec<f64> = work.iter().map(|episode| episode.start_sec).collect();
    BackgroundWork {
        episodes: work.len(),
        total_sec: extra.len() as f64 * step_sec,
        mean_extra: mean(&extra),
        first_sec: starts.first().copied().unwrap_or_default(),
        daily_at_sec: daily_at(&starts),
    }
}

/// The distance of two instants by time of day, in seconds.
fn apart(a: f64, b: f64) -> f64 {
    let distance = (a.rem_euclid(DAY_SEC) - b.rem_euclid(DAY_SEC)).abs();
    distance.min(DAY_SEC - distance)
}

/// The time of day at which most episodes begin, if these are more than half of all and on at least three days.
fn daily_at(starts: &[f64]) -> Option<f64> {
    let days_near = |start: f64| {
        let near = starts.iter().filter(|other| apart(start, **other) <= SAME_TIME_SEC);
        // Days are counted from that time of day, since midnight may lie between two close instants.
        let mut days: Vec<i64> = near.map(|sec| ((sec - start) / DAY_SEC).round() as i64).collect();
        days.dedup();
        days.len()
    };
    let best = starts.iter().copied().max_by_key(|start| days_near(*start))?;
    let days = days_near(best);
    (days >= MIN_DAYS && 2 * days > starts.len()).then(|| best.rem_euclid(DAY_SEC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_three_nights_have_a_time_of_day_also_around_midnight() {
        let day = |number: f64, sec: f64| number * DAY_SEC + sec;
        assert_eq!(daily_at(&[day(1.0, 7_200.0), day(2.0, 7_500.0), day(3.0, 7_000.0)]), Some(7_000.0));
        assert!(daily_at(&[day(1.0, 86_300.0), day(3.0, 100.0), day(3.0, 86_200.0)]).is_some());
        assert_eq!(daily_at(&[day(1.0, 7_200.0), day(1.0, 7_300.0), day(2.0, 7_200.0)]), None);
        assert_eq!(daily_at(&[day(1.0, 0.0), day(2.0, 30_000.0), day(3.0, 60_000.0)]), None);
    }
}
