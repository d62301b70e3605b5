//! Work without requests: times in which use is far above what the rate explains, such as a backup.

use plimsoll_stats::{line, median};

use super::findings::BackgroundWork;
use super::regression::{Point, plain, rate_quantile};

/// So many robust standard deviations above the line.
const FAR: f64 = 4.0;
/// The median absolute deviation of a normal distribution, in standard deviations.
const MAD_NORMAL: f64 = 0.674_5;
/// What is less than this part of the highest use is noise, however even the rest is.
const MIN_EXTRA: f64 = 0.02;
/// Use that is above the line at the highest rates is a law that bends. So an episode lies in the lower three quarters.
const RATES: f64 = 0.75;
/// Beyond this part of all points it is no exception.
const MAX_SHARE: f64 = 0.25;
/// Finding the line again without the episodes finds what they hid.
const ROUNDS: usize = 4;
const DAY_SEC: f64 = 86_400.0;
/// Episodes that begin within so much of each other's time of day are one job.
const SAME_TIME_SEC: f64 = 1_800.0;
const MIN_DAYS: usize = 3;

/// The points without background work, those of it, and what it was.
pub(super) struct Separated {
    pub(super) kept: Vec<Point>,
    pub(super) left_out: Vec<Point>,
    pub(super) work: Option<BackgroundWork>,
}

/// Separates background work. `start_sec` and `step_sec` are those of the series.
pub(super) fn separated(points: &[Point], start_sec: f64, step_sec: f64) -> Separated {
    let none = || Separated { kept: points.to_vec(), left_out: Vec::new(), work: None };
    let Some(quiet_rate) = rate_quantile(points, RATES) else { return none() };
    let highest = points.iter().map(|point| point.usage).fold(0.0, f64::max);
    let mut kept = points.to_vec();
    let mut found: Vec<Episode> = Vec::new();
    for _ in 0..ROUNDS {
        let Some(line) = line::fit(&plain(&kept)) else { break };
        let residual = |point: &Point| point.usage - line.intercept - line.slope * point.rate;
        let sizes = kept.iter().map(|point| residual(point).abs()).collect();
        let scale = median(sizes).unwrap_or(0.0) / MAD_NORMAL;
        let bound = (FAR * scale).max(MIN_EXTRA * highest);
        let is_far = |point: &Point| point.rate <= quiet_rate && residual(point) > bound;
        found = episodes(points, is_far, residual);
        let before = kept.len();
        kept = points.iter().filter(|point| !found.iter().any(|one| one.holds(point))).copied().collect();
        if kept.len() == before {
            break;
        }
    }
    let left_out: Vec<Point> =
        points.iter().filter(|point| found.iter().any(|one| one.holds(point))).copied().collect();
    if left_out.is_empty() || left_out.len() as f64 > MAX_SHARE * points.len() as f64 {
        return none();
    }
    Separated { kept, left_out, work: Some(summary(&found, start_sec, step_sec)) }
}

/// Neighbouring instants, two at least, from the first to the last.
struct Episode {
    first: usize,
    last: usize,
    extra: Vec<f64>,
}

impl Episode {
    fn holds(&self, point: &Point) -> bool {
        (self.first..=self.last).contains(&point.at)
    }
}

fn episodes(
    points: &[Point],
    is_far: impl Fn(&Point) -> bool,
    residual: impl Fn(&Point) -> f64,
) -> Vec<Episode> {
    let far: Vec<&Point> = points.iter().filter(|point| is_far(point)).collect();
    let runs = far.chunk_by(|a, b| b.at - a.at == 1).filter(|run| run.len() >= 2);
    runs.map(|run| Episode {
        first: run[0].at,
        last: run[run.len() - 1].at,
        extra: run.iter().map(|point| residual(point)).collect(),
    })
    .collect()
}

fn summary(found: &[Episode], start_sec: f64, step_sec: f64) -> BackgroundWork {
    let extra: Vec<f64> = found.iter().flat_map(|episode| episode.extra.iter().copied()).collect();
    let starts: Vec<f64> = found.iter().map(|episode| start_sec + episode.first as f64 * step_sec).collect();
    BackgroundWork {
        episodes: found.len(),
        total_sec: extra.len() as f64 * step_sec,
        mean_extra: plimsoll_stats::mean(&extra),
        first_sec: starts.first().copied().unwrap_or(start_sec),
        daily_at_sec: daily_at(&starts),
    }
}

/// The time of day at which most episodes begin, if these are most of all and on three days at least.
fn daily_at(starts: &[f64]) -> Option<f64> {
    let of_day = |sec: f64| sec.rem_euclid(DAY_SEC);
    let apart = |a: f64, b: f64| {
        let distance = (of_day(a) - of_day(b)).abs();
        distance.min(DAY_SEC - distance)
    };
    let days_near = |start: f64| {
        let near = starts.iter().filter(|other| apart(start, **other) <= SAME_TIME_SEC);
        // Days are counted from that time of day, as midnight may lie between two that are near each other.
        let mut days: Vec<i64> = near.map(|sec| ((sec - start) / DAY_SEC).round() as i64).collect();
        days.dedup();
        days.len()
    };
    let best = starts.iter().copied().max_by_key(|start| days_near(*start))?;
    let days = days_near(best);
    (days >= MIN_DAYS && 2 * days > starts.len()).then(|| of_day(best))
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
