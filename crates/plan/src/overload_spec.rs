//! Overloads as typed, and the load that they begin with.

use std::time::Duration;

use crate::error::PlanError;
use crate::overload::{MAX_STAGE, OverloadOrder, bounded, hold_for_requests, least_hold};
use crate::profile::MAX_RATE;
use crate::slo::MIN_SETTLING_SEC;
use crate::{ArrivalProcess, Level, Load, RateProfile, RateSearchOrder, Slo};

/// The base load before and after an overload, as a part of the highest rate within the conditions: a usual load, with room to
/// work off a queue.
const DEFAULT_BASE: f64 = 0.75;
/// The rate is known to about 3 %. With a base closer to it, the time in which a queue is worked off would be uncertain.
const MAX_BASE: f64 = 0.85;
const DEFAULT_FACTORS: [f64; 3] = [1.2, 1.5, 2.0];
/// At 1.2 times the rate, answers are late after five times the limit of latency. An overload held for 16 times the limit shows
/// that in its second half, with room. The bounds below apply unless the lowest overload needs longer to show a queue.
const HOLD_PER_LIMIT: f64 = 16.0;
const MIN_DEFAULT_HOLD: Duration = Duration::from_secs(8);
const MAX_DEFAULT_HOLD: Duration = Duration::from_secs(60);
/// A low rate is held for longer, so that enough requests fall due, up to this time.
const MAX_SLOW_HOLD: Duration = Duration::from_secs(300);
const MIN_STAGE: Duration = Duration::from_secs(1);
const MAX_FACTOR: f64 = 20.0;
const MAX_FACTORS: usize = 10;
/// The connections open when the load begins; more are opened as needed.
const CONNECTIONS: u32 = 10;
/// Users give up after this many times the limit of latency, within these bounds,
const PATIENCE_PER_LIMIT: f64 = 4.0;
const MIN_PATIENCE: Duration = Duration::from_secs(1);
const MAX_PATIENCE: Duration = Duration::from_secs(10);
/// and not before this many times the limit: an answer at the limit is still good, and one after it is late.
const MIN_PATIENCE_PER_LIMIT: f64 = 1.25;

/// Overloads as typed; a part that is not given gets a default when the plan is frozen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OverloadSpec {
    /// The highest rate within the conditions, requests per second; `None` searches for it first.
    pub rate_per_sec: Option<f64>,
    /// The base load before and after an overload, as a part of that rate.
    pub base: Option<f64>,
    /// The overloads, as multiples of that rate; empty takes 1.2, 1.5 and 2.
    pub factors: Vec<f64>,
    /// How long an overload is held, which is also the time of a ramp to it.
    pub hold: Option<Duration>,
    /// The longest time for which the base load is watched after an overload.
    pub watch: Option<Duration>,
}

impl OverloadSpec {
    /// The longest time of the search for the rate, including its ladder, unless the user gives a time.
    pub const SEARCH_BUDGET: Duration = Duration::from_secs(300);
    /// The tolerance of the search for the rate.
    pub(crate) const SEARCH: RateSearchOrder = RateSearchOrder { tolerance: 0.05 };

    /// The default timeout of requests under overload: clients of an overloaded service give up.
    pub(crate) fn patience(slo: &Slo) -> Duration {
        let Some(limit) = slo.tail_limit() else { return MAX_PATIENCE };
        let limit_sec = limit.limit_ms / 1e3;
        let usual = bounded(PATIENCE_PER_LIMIT * limit_sec, MIN_PATIENCE, MAX_PATIENCE);
        bounded(MIN_PATIENCE_PER_LIMIT * limit_sec, usual, MAX_STAGE)
    }

    /// The shortest timeout of a response: longer than every limit of latency, after which the response is late.
    pub(crate) fn least_patience(slo: &Slo) -> Duration {
        let longest_ms = slo.latency.iter().map(|limit| limit.limit_ms).fold(0.0, f64::max);
        bounded(MIN_PATIENCE_PER_LIMIT * longest_ms / 1e3, Duration::ZERO, MAX_STAGE)
    }

    /// Checks the overloads and fills in what was left open.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub(crate) fn freeze(self, slo: &Slo) -> Result<OverloadOrder, PlanError> {
        let base = self.base.unwrap_or(DEFAULT_BASE);
        if !(0.1..=MAX_BASE).contains(&base) {
            let allowed = format!("from 0.1 to {MAX_BASE} of the rate");
            return Err(PlanError::range("the load before an overload", base, allowed));
        }
        let limit_sec = slo.tail_limit().map_or(0.0, |limit| limit.limit_ms / 1e3);
        let factors = checked_factors(self.factors)?;
        let (lowest, highest) = (factors[0], factors[factors.len() - 1]);
        let usual = bounded(HOLD_PER_LIMIT * limit_sec, MIN_DEFAULT_HOLD, MAX_DEFAULT_HOLD);
        let rate_per_sec = self.rate_per_sec.map(|rate| checked_rate(rate, highest)).transpose()?;
        let enough = rate_per_sec.map_or(Duration::ZERO, hold_for_requests).min(MAX_SLOW_HOLD);
        let hold = usual.max(least_hold(lowest, limit_sec)).max(enough);
        Ok(OverloadOrder {
            rate_per_sec,
            base,
            factors,
            hold: checked_time("the time of an overload", self.hold.unwrap_or(hold))?,
            settle: bounded(slo.settling_sec() - MIN_SETTLING_SEC, Duration::ZERO, MAX_STAGE),
            watch: self.watch.map(|watch| checked_time("the time after an overload", watch)).transpose()?,
        })
    }
}

fn checked_rate(rate_per_sec: f64, highest: f64) -> Result<f64, PlanError> {
    if rate_per_sec > 0.0 && rate_per_sec * highest <= MAX_RATE {
        return Ok(rate_per_sec);
    }
    let allowed = format!("above 0, and {highest} times of it at most {MAX_RATE} a second");
    Err(PlanError::range("the rate that is overloaded", rate_per_sec, allowed))
}

fn checked_factors(mut factors: Vec<f64>) -> Result<Vec<f64>, PlanError> {
    if factors.is_empty() {
        factors = DEFAULT_FACTORS.to_vec();
    }
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let wrong = factors.iter().find(|factor| !(**factor > 1.0 && **factor <= MAX_FACTOR));
    match wrong {
        Some(factor) => Err(PlanError::range(
            "a multiple of the rate",
            factor,
            format!("above 1 and at most {MAX_FACTOR}: the rate itself is offered first"),
        )),
        None if factors.len() > MAX_FACTORS => {
            Err(PlanError::range("the number of overloads", factors.len(), format!("at most {MAX_FACTORS}")))
        }
        None => Ok(factors),
    }
}

fn checked_time(what: &'static str, time: Duration) -> Result<Duration, PlanError> {
    if (MIN_STAGE..=MAX_STAGE).contains(&time) {
        return Ok(time);
    }
    Err(PlanError::range(what, format!("{time:?}"), "from 1 s to 1 h"))
}

/// The load of a plan whose rate is given: the base, then the rate itself, with which all overloads are compared.
pub(crate) fn reference_load(
    order: &OverloadOrder,
    rate_per_sec: f64,
    connections_max: u32,
    depth: u16,
) -> Load {
    let profile = order.reference(rate_per_sec);
    let duration = profile.duration().unwrap_or(order.hold);
    Load::Single { level: open_level(profile, connections_max, depth), duration, requests_max: None }
}

/// The level of a step of an overload: Poisson arrivals, as from many independent users, over at most `connections_max`
/// connections.
pub fn open_level(profile: RateProfile, connections_max: u32, depth: u16) -> Level {
    let connections = CONNECTIONS.min(connections_max);
    Level::Open { profile, arrivals: ArrivalProcess::Poisson, connections, depth }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencyLimit;

    fn slo(p99_ms: f64) -> Slo {
        Slo { latency: vec![LatencyLimit::p99(p99_ms)], ..Slo::default() }
    }

    fn order(spec: OverloadSpec) -> OverloadOrder {
        spec.freeze(&slo(500.0)).unwrap()
    }

    fn texts(order: &OverloadOrder) -> Vec<String> {
        order.profiles(1000.0).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_overload_of_a_rate_beyond_all_limits_is_refused() {
        let freeze = |rate, factors: &[f64]| {
            let rate_per_sec = Some(rate);
            OverloadSpec { rate_per_sec, factors: factors.to_vec(), ..OverloadSpec::default() }
                .freeze(&slo(500.0))
        };
        assert!(freeze(1e12, &[]).is_err() && freeze(1e7, &[20.0]).is_err() && freeze(0.0, &[]).is_err());
        assert_eq!(freeze(1e7, &[2.0]).unwrap().rate_per_sec, Some(1e7));
    }

    #[test]
    fn an_overload_opens_no_more_connections_than_it_may() {
        let opened = |most| open_level(RateProfile::Constant(5.0), most, 1).connections();
        assert_eq!([opened(4), opened(1_000)], [4, CONNECTIONS]);
    }

    #[test]
    fn a_slow_service_is_overloaded_for_longer_and_its_users_wait_longer() {
        assert_eq!(OverloadSpec::default().freeze(&slo(2000.0)).unwrap().hold, Duration::from_secs(32));
        let patience = |ms| OverloadSpec::patience(&slo(ms)).as_millis();
        assert_eq!([patience(20.0), patience(500.0), patience(4000.0)], [1000, 2000, 10_000]);
        // Never before the limit, after which an answer is late.
        assert_eq!([patience(9000.0), patience(60_000.0)], [11_250, 75_000]);
        assert_eq!(OverloadSpec::patience(&Slo::default()), Duration::from_secs(10));
    }

    #[test]
    fn an_overload_is_held_until_a_queue_shows_and_one_that_is_not_says_how_long_it_should_be() {
        let order = |p99_ms, factors: &[f64], hold: Option<u64>| {
            let (factors, hold) = (factors.to_vec(), hold.map(Duration::from_secs));
            OverloadSpec { factors, hold, ..OverloadSpec::default() }.freeze(&slo(p99_ms)).unwrap()
        };
        let held = |p99_ms, factors: &[f64]| order(p99_ms, factors, None).hold.as_secs();
        assert_eq!([held(500.0, &[1.05, 2.0]), held(6000.0, &[]), held(10_000.0, &[])], [20, 60, 100]);
        let longer = |hold, factor| {
            let order = order(2000.0, &[], Some(hold));
            order.longer_hold(factor, &slo(2000.0)).map(|needed| needed.as_secs())
        };
        assert_eq!([longer(5, 1.2), longer(20, 1.2), longer(5, 2.0)], [Some(20), None, None]);
        assert_eq!(order(2000.0, &[], Some(1)).longer_hold(1.2, &Slo::default()), None);
    }

    #[test]
    fn a_slow_rate_is_held_until_enough_requests_fall_due() {
        let held = |rate| {
            let spec = OverloadSpec { rate_per_sec: Some(rate), ..OverloadSpec::default() };
            order(spec).hold.as_secs()
        };
        assert_eq!([held(1000.0), held(10.0), held(0.1)], [8, 26, 300]);
    }

    #[test]
    fn the_base_before_an_overload_of_a_slow_service_lasts_until_its_answers_count() {
        let begins = |p99_ms, hold: Option<u64>| {
            let hold = hold.map(Duration::from_secs);
            let order = OverloadSpec { hold, ..OverloadSpec::default() }.freeze(&slo(p99_ms)).unwrap();
            order
                .profiles(1000.0)
                .into_iter()
                .map(|profile| profile.stages()[0].duration.as_secs())
                .collect::<Vec<_>>()
        };
        assert_eq!(begins(1000.0, None), [5; 5]);
        assert_eq!(begins(1000.0, Some(1)), [2; 5]);
        assert_eq!(begins(5000.0, None), [9; 5], "its first answers may take 5 s");
        assert_eq!(begins(5000.0, Some(2)), [6; 5]);
    }

    #[test]
    fn an_order_of_a_fast_service_is_recorded_as_ever() {
        let json =
            |p99_ms| serde_json::to_string(&OverloadSpec::default().freeze(&slo(p99_ms)).unwrap()).unwrap();
        assert!(!json(1000.0).contains("settle"), "{}", json(1000.0));
        let slow = json(3000.0);
        assert_eq!(
            serde_json::from_str::<OverloadOrder>(&slow).unwrap().settle,
            Duration::from_secs(2),
            "{slow}"
        );
    }

    #[test]
    fn what_is_no_overload_is_refused() {
        let refused = |spec: OverloadSpec| spec.freeze(&slo(500.0)).unwrap_err().to_string();
        let factors = |factors: &[f64]| OverloadSpec { factors: factors.to_vec(), ..OverloadSpec::default() };
        assert!(refused(factors(&[1.0])).contains("the rate itself is offered first"));
        assert!(refused(factors(&[f64::NAN])).contains("above 1"));
        assert!(refused(OverloadSpec { base: Some(0.95), ..OverloadSpec::default() }).contains("0.85"));
        assert!(
            refused(OverloadSpec { rate_per_sec: Some(0.0), ..OverloadSpec::default() }).contains("above 0")
        );
        let hold = Some(Duration::from_millis(10));
        assert!(refused(OverloadSpec { hold, ..OverloadSpec::default() }).contains("1 s"));
    }

    #[test]
    fn the_rate_itself_comes_first_then_jumps_and_a_ramp_to_the_highest() {
        let order = order(OverloadSpec { factors: vec![2.0, 1.5], ..OverloadSpec::default() });
        assert_eq!(
            texts(&order),
            [
                "const(750,5s) const(1000,8s)",
                "const(750,5s) const(1500,8s) const(750,28s)",
                "const(750,5s) const(2000,8s) const(750,52s)",
                "const(750,5s) ramp(750,2000,8s) const(2000,8s) const(750,71.2s)",
            ]
        );
        assert_eq!(order.longest(1000.0), Duration::from_millis(13_000 + 41_000 + 65_000 + 92_200));
    }
}
