//! What a request uses of a resource, by the utilisation law.

use plimsoll_stats::line::{self, Line};

use super::utilisation::BUSY;
use crate::Estimate;

/// The highest throughput must be this many times the lowest; otherwise noise alone would give the slope.
const MIN_SPREAD: f64 = 1.25;
/// A server that is full from the first step on may still serve more under more load, because it sleeps and wakes less often
/// per request. Beyond this factor it was not the requests that filled it.
pub(crate) const MAX_BATCHING: f64 = 3.0;
/// A use does not depend on the load if it is at least this share of its value at the plateau, at a throughput at which there
/// would be far less to do.
const STEADY: f64 = 0.5;

/// Whether use grows with throughput, as the utilisation law says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// It grows: the interval of the slope lies above zero.
    Holds,
    /// It does not grow: something other than the requests uses the resource.
    Broken,
    /// Not known: throughput hardly differed between the steps, or there were too few of them, or use scatters so widely that a
    /// request may cost nothing or all of it; or nothing was left of the resource in most steps, so that its use could not grow.
    Untested,
}

/// U = U₀ + D·X: what a request uses of a resource, and the throughput at which the resource is used up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// D in the resource's unit times seconds a request: core-seconds, bits, packets.
    pub per_request: Estimate,
    /// U₀, the use without requests, in the resource's unit.
    pub idle: f64,
    /// The throughput at which nothing of the resource is left, in requests per second; `None` where the capacity is not
    /// known or use does not grow with throughput.
    pub at_per_sec: Option<Estimate>,
    pub law: Law,
}

/// One step: throughput in requests per second, and what was used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    pub(crate) throughput_per_sec: f64,
    pub(crate) used: f64,
}

/// Whether a use follows the load, by the lowest throughput and another one; `None` where these are too close to decide. At the
/// lowest throughput a request may cost several times as much, because a server sleeps and wakes more often. Where throughput differs
/// by more than that explains, the use must be far less there.
pub(crate) fn follows_load(lowest: Load, now: Load) -> Option<bool> {
    if lowest.used < STEADY * now.used {
        return Some(true);
    }
    let far_less_to_do = MAX_BATCHING * lowest.throughput_per_sec <= STEADY * now.throughput_per_sec;
    far_less_to_do.then_some(false)
}

/// Computes the demand from these steps. `plateau` is the step of the highest throughput: the line is followed from there to the
/// capacity, so that the fit does not replace what was measured.
///
/// X_max = X + (c − U)/D at the plateau. Its interval takes the ends of the interval of D, and the scatter of U about
/// the line over D.
pub(crate) fn demand(loads: &[Load], plateau: Load, capacity: Option<f64>) -> Option<Demand> {
    let full = |load: &&Load| capacity.is_some_and(|capacity| load.used >= BUSY * capacity);
    let batched = spread(loads).is_some_and(|(least, most)| most < MAX_BATCHING * least);
    let mostly_full = batched && 2 * loads.iter().filter(full).count() > loads.len();
    let law = line(loads).map(|line| by_line(&line, plateau, capacity));
    match law.filter(|demand| demand.law == Law::Holds || !mostly_full) {
        Some(demand) => Some(demand),
        None if plateau.throughput_per_sec > 0.0 => Some(through_origin(plateau, capacity)),
        None => None,
    }
}

/// The demand without a line: all use is charged to requests, which makes D too large rather than too small.
fn through_origin(plateau: Load, capacity: Option<f64>) -> Demand {
    let value = plateau.used / plateau.throughput_per_sec;
    let at_per_sec = capacity.filter(|_| value > 0.0).map(|capacity| Estimate::exact(capacity / value));
    Demand { per_request: Estimate::exact(value), idle: 0.0, at_per_sec, law: Law::Untested }
}

fn by_line(line: &Line, plateau: Load, capacity: Option<f64>) -> Demand {
    let (low, high) = (line.slope - line.slope_half, line.slope + line.slope_half);
    if low <= 0.0 && high * plateau.throughput_per_sec >= plateau.used {
        // The scatter allows any cost of a request, from none to all that was used: the line shows nothing.
        return through_origin(plateau, capacity);
    }
    let law = if low > 0.0 { Law::Holds } else { Law::Broken };
    let left = |capacity: f64| (capacity - plateau.used).max(0.0);
    let at_per_sec = capacity.filter(|_| low > 0.0).map(|capacity| {
        let reach = |slope: f64| plateau.throughput_per_sec + left(capacity) / slope;
        let scatter = line.scatter_half / line.slope;
        Estimate {
            value: reach(line.slope),
            interval: Some(((reach(high) - scatter).max(0.0), reach(low) + scatter)),
        }
    });
    let per_request = Estimate { value: line.slope, interval: Some((low, high)) };
    Demand { per_request, idle: line.intercept.max(0.0), at_per_sec, law }
}

/// The lowest throughput and the highest.
fn spread(loads: &[Load]) -> Option<(f64, f64)> {
    let xs = || loads.iter().map(|load| load.throughput_per_sec);
    Some((xs().reduce(f64::min)?, xs().reduce(f64::max)?))
}

fn line(loads: &[Load]) -> Option<Line> {
    let (least, most) = spread(loads)?;
    let points: Vec<(f64, f64)> = loads.iter().map(|load| (load.throughput_per_sec, load.used)).collect();
    if most < MIN_SPREAD * least { None } else { line::fit(&points) }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    fn load(throughput_per_sec: f64, used: f64) -> Load {
        Load { throughput_per_sec, used }
    }

    fn found(loads: &[Load], capacity: f64) -> Demand {
        let by_throughput = |a: &&Load, b: &&Load| a.throughput_per_sec.total_cmp(&b.throughput_per_sec);
        demand(loads, *loads.iter().max_by(by_throughput).unwrap(), Some(capacity)).unwrap()
    }

    #[test]
    fn an_exact_line_gives_its_demand_idle_use_and_limit() {
        let loads: Vec<Load> = [100.0, 200.0, 400.0, 800.0].map(|x| load(x, 0.1 + 0.001 * x)).to_vec();
        let found = found(&loads, 1.9);
        assert!((found.per_request.value - 0.001).abs() < 1e-9 && (found.idle - 0.1).abs() < 1e-9);
        assert!((found.at_per_sec.unwrap().value - 1800.0).abs() < 1e-3);
        assert_eq!(found.law, Law::Holds);
    }

    #[test]
    fn one_step_that_is_wrong_does_not_move_the_line() {
        let mut loads: Vec<Load> = (1..=8).map(|n| load(f64::from(n) * 100.0, 0.1 * f64::from(n))).collect();
        loads[2].used = 0.95;
        let found = found(&loads, 1.0);
        assert!((found.per_request.value / 0.001 - 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn the_interval_covers_the_truth() {
        let covered = (0..300).filter(|seed| {
            let mut noise = Noise::new(*seed);
            let loads: Vec<Load> = (1..=9)
                .map(|n| {
                    load(f64::from(n) * 100.0, 0.05 + 0.0005 * f64::from(n) * 100.0 + 0.01 * noise.normal())
                })
                .collect();
            let (low, high) = found(&loads, 1.0).per_request.interval.unwrap();
            low <= 0.0005 && 0.0005 <= high
        });
        let count = covered.count();
        assert!(count >= 260, "{count} of 300");
    }

    #[test]
    fn what_is_always_busy_is_not_used_by_requests() {
        let mut noise = Noise::new(3);
        let loads: Vec<Load> =
            (0..8).map(|n| load(100.0 * f64::from(1 << n), 0.98 + 0.005 * noise.normal())).collect();
        let found = found(&loads, 1.0);
        assert_eq!((found.law, found.at_per_sec), (Law::Broken, None));
    }

    #[test]
    fn a_line_that_allows_any_demand_says_nothing() {
        // Nine tenths used at each of three loads: with more of them, or less scatter, that would be no use by requests.
        let scattered = [load(870.0, 0.80), load(1270.0, 0.94), load(1050.0, 0.95)];
        let found_scattered = found(&scattered, 1.0);
        assert_eq!(found_scattered.law, Law::Untested);
        assert!((found_scattered.at_per_sec.unwrap().value - 1270.0 / 0.94).abs() < 1e-6);
        let level: Vec<Load> =
            (4..12).map(|n| load(100.0 * f64::from(n), 0.8 + 0.001 * f64::from(n % 2))).collect();
        assert_eq!(found(&level, 1.0).law, Law::Broken);
    }

    #[test]
    fn without_a_spread_of_throughput_all_use_is_the_requests() {
        let found =
            found(&[load(1000.0, 0.5), load(1010.0, 0.5), load(990.0, 0.49), load(1020.0, 0.51)], 1.0);
        assert_eq!(found.law, Law::Untested);
        assert!((found.at_per_sec.unwrap().value - 2000.0).abs() < 1.0);
    }
}
