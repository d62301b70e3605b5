//! How throughput follows the number of machines of a tier.

use super::doubt::Doubt;
use super::terms::{Goal, MAX_MACHINES};
use crate::findings::Limit;
use crate::groups::firsts;
use plimsoll_stats::usl::{Point, Usl, UslFit, fit};

/// Measurements do not support a plan of more machines than this many times the most that were measured.
const MAX_EXTRAPOLATION: f64 = 2.0;

/// Efficiency above this is more than linear growth; less may be measurement error.
const MAX_PROPORTIONAL: f64 = 1.1;

/// Contention below this is not distinguishable from none: two throughputs, each known to 2 %, give it to ±0.04.
const MIN_CONTENTION: f64 = 0.05;

/// A smaller decrease of throughput is no fall: two throughputs, each known to 2 %, may differ by as much.
const MIN_FALL: f64 = 0.05;

/// Throughput over the number of machines of one tier, in loads that this tier limited.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The number of the loads' kind of requests.
    pub kind: usize,
    /// The limits of those loads, each once.
    pub limits: Vec<Limit>,
    /// Machines and requests per second, the fewest machines first.
    pub points: Vec<(f64, f64)>,
    /// The Universal Scalability Law over machines; `None` with fewer than six counts, or if it does not fit.
    pub usl: Option<Usl>,
}

/// Contention between machines: X(n) = γn/(1 + α(n − 1)), the scalability law without coherence, which is Amdahl's law in Gunther's
/// form. Two counts determine it, since n/X = (1 − α)/γ + (α/γ)·n is a line over n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Requests per second of one machine.
    pub gamma: f64,
    /// The share of the work that machines do one after another, from 0 to 1.
    pub alpha: f64,
}

impl Contention {
    fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (mean_n, mean_y) = (mean(&|(n, _)| *n), mean(&|(n, x)| n / x));
        let spread = mean(&|(n, _)| (n - mean_n).powi(2));
        let slope = mean(&|(n, x)| (n - mean_n) * (n / x - mean_y)) / spread;
        let contended = slope.is_finite() && slope > 0.0;
        let rest = mean_y - slope * mean_n;
        let (alpha_over_gamma, rest) = match contended {
            false => (0.0, mean_y),
            // An intercept below 0 would mean α above 1, so that throughput is level.
            true if rest < 0.0 => (mean(&|(n, x)| n * n / x) / mean(&|(n, _)| n * n), 0.0),
            true => (slope, rest),
        };
        let gamma = 1.0 / (alpha_over_gamma + rest);
        let known = gamma.is_finite() && gamma > 0.0;
        known.then(|| Self { gamma, alpha: (alpha_over_gamma * gamma).min(1.0) })
    }

    /// Requests per second of this many machines.
    pub fn throughput(&self, machines: f64) -> f64 {
        self.gamma * machines / (1.0 + self.alpha * (machines - 1.0))
    }

    /// The fewest machines with this throughput; `None` if no number is enough.
    fn machines(&self, per_sec: f64) -> Option<u64> {
        let left = self.gamma - self.alpha * per_sec;
        (left > 0.0).then(|| (per_sec * (1.0 - self.alpha) / left).ceil().max(1.0) as u64)
    }
}

/// A check of the scaling: the point with the most machines, predicted from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingTrial {
    pub machines: f64,
    pub predicted_per_sec: f64,
    pub measured_per_sec: f64,
}

impl ScalingTrial {
    /// Measured over predicted throughput.
    pub fn ratio(&self) -> f64 {
        self.measured_per_sec / self.predicted_per_sec
    }
}

/// The number of machines with the highest throughput by the law, and that throughput. The top of the curve need not be a whole number,
/// so that both neighbours are tried.
fn peak(usl: &Usl) -> (u64, f64) {
    let top = usl.top().clamp(1.0, MAX_MACHINES as f64);
    let of = |machines: f64| (machines as u64, usl.throughput(machines));
    let (below, above) = (of(top.floor()), of(top.ceil()));
    if above.1 > below.1 { above } else { below }
}

/// Two points of which the one with more machines has less throughput: (machines, requests per second).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fall {
    pub(super) highest: (f64, f64),
    pub(super) lower: (f64, f64),
}

impl Fall {
    /// An upper bound of the throughput of this many machines: the lower one from its count on, else the highest.
    fn most_per_sec(&self, machines: f64) -> f64 {
        if machines >= self.lower.0 { self.lower.1 } else { self.highest.1 }
    }
}

/// The fewest and the most machines of these points, which are sorted.
fn span(points: &[(f64, f64)]) -> (f64, f64) {
    let machines = |point: Option<&(f64, f64)>| point.map_or(0.0, |point| point.0);
    (machines(points.first()), machines(points.last()))
}

fn points(measured: &[(f64, f64)]) -> Vec<Point> {
    let point =
        |(machines, per_sec): &(f64, f64)| Point { size: *machines, throughput: *per_sec, interval: None };
    measured.iter().map(point).collect()
}

impl Scaling {
    /// Fits these points; of several with one count the highest is taken. `None` for fewer than two counts.
    pub(super) fn fit(mut measured: Vec<(f64, f64)>) -> Option<Self> {
        measured.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        measured.dedup_by(|later, kept| later.0 == kept.0);
        if measured.len() < 2 {
            return None;
        }
        let usl = match fit(&points(&measured)) {
            UslFit::Fitted(usl) => Some(usl),
            UslFit::TooFewPoints(_) | UslFit::Poor => None,
        };
        Some(Self { kind: 0, limits: Vec::new(), points: measured, usl })
    }

    /// Sets the kind of requests.
    pub(super) fn of_kind(self, kind: usize) -> Self {
        Self { kind, ..self }
    }

    /// Sets the limits.
    pub(super) fn limited_by(self, limits: impl IntoIterator<Item = Limit>) -> Self {
        Self { limits: firsts(limits, |a, b| a == b), ..self }
    }

    /// True if throughput per machine is lower with the most machines than with the fewest, beyond measurement error.
    pub(super) fn is_below_linear(&self) -> bool {
        self.efficiency() < 1.0 - MIN_FALL
    }

    /// The contention between machines, from fewer counts than the scalability law needs; `None` where that law is fitted, and where
    /// growth was linear within measurement error. Contention alone never lowers throughput, so that only counts up to a fall are
    /// used.
    pub fn contention(&self) -> Option<Contention> {
        let contention = Contention::fit(self.before_fall()).filter(|_| self.usl.is_none());
        contention.filter(|contention| contention.alpha >= MIN_CONTENTION)
    }

    /// The points up to the largest count whose throughput is not below the highest.
    fn before_fall(&self) -> &[(f64, f64)] {
        let highest = self.points.iter().map(|point| point.1).fold(0.0, f64::max);
        let last = self.points.iter().rposition(|point| point.1 >= (1.0 - MIN_FALL) * highest);
        &self.points[..last.map_or(0, |last| last + 1)]
    }

    /// The fall around this count, if it or the next measured count is below the highest throughput of no more machines. `lower` is the
    /// largest measured count up to `machines` if that fell, else the next one.
    fn fall_around(&self, machines: f64) -> Option<Fall> {
        let (below, above) = self.points.split_at(self.points.partition_point(|point| point.0 <= machines));
        let highest = *below.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_lower = |point: &&(f64, f64)| point.1 < (1.0 - MIN_FALL) * highest.1;
        let fallen = below.last().filter(|last| last.0 > highest.0).filter(is_lower);
        let lower = *fallen.or_else(|| above.first().filter(is_lower))?;
        Some(Fall { highest, lower })
    }

    /// The measured throughput of exactly this many machines.
    pub(super) fn measured(&self, machines: f64) -> Option<f64> {
        self.points.iter().find(|point| point.0 == machines).map(|point| point.1)
    }

    /// Requests per second of this many machines: measured, by the scalability law, by the upper bound of a fall, or by contention.
    /// `None` where growth was linear or more.
    pub(super) fn throughput(&self, machines: f64) -> Option<f64> {
        let fall = self.fall_around(machines).map(|fall| fall.most_per_sec(machines));
        let by_law = self.usl.map(|usl| usl.throughput(machines));
        let predicted = by_law.or(fall).or_else(|| Some(self.contention()?.throughput(machines)))?;
        Some(self.measured(machines).unwrap_or(predicted))
    }

    /// The fall around this count, if neither a measurement nor the law gives the throughput in it.
    pub(super) fn unmeasured_fall(&self, machines: f64) -> Option<Fall> {
        let is_known = self.usl.is_some() || self.measured(machines).is_some();
        self.fall_around(machines).filter(|_| !is_known)
    }

    /// True if this many machines or fewer were measured to carry more than `per_sec`.
    pub(super) fn carried_more(&self, machines: f64, per_sec: f64) -> bool {
        self.points.iter().any(|point| point.0 <= machines && point.1 > per_sec)
    }

    /// Throughput per machine with the most of them over that with the fewest: 1 for linear growth.
    pub fn efficiency(&self) -> f64 {
        let each = |point: Option<&(f64, f64)>| point.map_or(1.0, |(machines, per_sec)| per_sec / machines);
        each(self.points.last()) / each(self.points.first())
    }

    /// The fewest and the most machines that were measured.
    pub fn span(&self) -> (f64, f64) {
        span(&self.points)
    }

    /// The fewest machines that carry the target at the utilisation of the goal: by the law where there is one, and more than the
    /// largest of the first counts that were measured to carry less than the target. `Err` is the most that the law allows, if that is
    /// less than the target.
    pub(super) fn machines(&self, goal: Goal) -> Result<u64, f64> {
        let is_less = |point: &&(f64, f64)| point.1 < goal.target_per_sec;
        let too_few = self.points.iter().take_while(is_less).last().map_or(0.0, |point| point.0);
        let least = too_few.floor() as u64 + 1;
        let Some(usl) = self.usl else { return Ok(least) };
        let carries =
            |machines: u64| usl.throughput(machines as f64) * goal.utilisation >= goal.target_per_sec;
        let (top, most_per_sec) = peak(&usl);
        if !carries(top) {
            return Err(most_per_sec * goal.utilisation);
        }
        // The law rises up to its top, so that bisection finds the first count that carries the target.
        let (mut below, mut enough) = (0, top);
        while enough - below > 1 {
            let middle = below.midpoint(enough);
            if carries(middle) { enough = middle } else { below = middle }
        }
        Ok(enough.max(least))
    }

    /// A doubt if this many machines do not carry the target at the utilisation of the goal because throughput falls with their number.
    pub(super) fn fall(&self, goal: Goal, count: u64) -> Option<Doubt> {
        let count = count as f64;
        let is_less = |per_sec: f64| per_sec * goal.utilisation < goal.target_per_sec;
        // Between two measured counts the law is more exact.
        let is_met = |fall: &Fall| self.usl.is_none() || fall.lower.0 <= count;
        let measured =
            self.fall_around(count).filter(|fall| is_met(fall) && is_less(fall.most_per_sec(count)));
        let by_law = self.usl.and_then(|usl| {
            let ((top, most_per_sec), per_sec) = (peak(&usl), usl.throughput(count));
            let falls = count > top as f64 && is_less(per_sec);
            falls.then_some(Fall { highest: (top as f64, most_per_sec), lower: (count, per_sec) })
        });
        measured.or(by_law).map(|Fall { highest: (few, few_per_sec), lower: (many, many_per_sec) }| {
            Doubt::Falls { few, few_per_sec, many, many_per_sec }
        })
    }

    /// Predicts the point with the most machines from the others: by the law if enough are left, else by linear growth from the count
    /// before. `None` for fewer than three counts.
    pub fn trial(&self) -> Option<ScalingTrial> {
        let (&(machines, measured_per_sec), others) = self.points.split_last()?;
        let &(before, per_sec) = others.last().filter(|_| others.len() > 1)?;
        let by_law = match fit(&points(others)) {
            UslFit::Fitted(usl) => Some(usl.throughput(machines)),
            UslFit::TooFewPoints(_) | UslFit::Poor => None,
        };
        let predicted_per_sec = by_law.unwrap_or(per_sec * machines / before);
        Some(ScalingTrial { machines, predicted_per_sec, measured_per_sec })
    }

    /// The machines that the target takes if contention continues beyond the measured counts. `None` if that is no more than `count`, or
    /// at most `count` machines were measured to carry it.
    pub(super) fn contended(&self, goal: Goal, count: u64) -> Option<Doubt> {
        let contention = self.contention()?;
        let full_per_sec = goal.target_per_sec / goal.utilisation;
        let is_enough =
            |(machines, per_sec): &(f64, f64)| *machines <= count as f64 && *per_sec >= full_per_sec;
        if self.points.iter().any(is_enough) {
            return None;
        }
        let machines = contention.machines(full_per_sec);
        let (few, most) = span(self.before_fall());
        let alpha = contention.alpha;
        machines.is_none_or(|machines| machines > count).then_some(Doubt::Contended {
            few,
            most,
            alpha,
            machines,
        })
    }

    /// The doubt about several machines after a change to what limited them.
    pub(super) fn doubt_after_change(&self) -> Doubt {
        let (few, most) = self.span();
        Doubt::ScalingBefore { few, most }
    }

    /// The doubt about this count if growth was more than linear, or if the count is far beyond those measured.
    pub(super) fn doubt(&self, count: u64) -> Option<Doubt> {
        let (few, most) = self.span();
        if self.efficiency() > MAX_PROPORTIONAL {
            return Some(Doubt::MoreThanLinear { few, most });
        }
        let trusted = MAX_EXTRAPOLATION * most;
        (count as f64 > trusted).then_some(Doubt::BeyondMeasured { count, most, trusted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: Goal = Goal { target_per_sec: 10_000.0, utilisation: 1.0 };

    /// Machines that each carry 1,000 requests/s, with this contention and coherence.
    fn scaling(counts: &[f64], alpha: f64, beta: f64) -> Scaling {
        let law = |n: f64| 1_000.0 * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
        Scaling::fit(counts.iter().map(|count| (*count, law(*count))).collect()).unwrap()
    }

    #[test]
    fn a_rate_beyond_the_law_is_reached_by_no_number_of_machines() {
        let serial = scaling(&[1.0, 2.0, 3.0, 4.0, 6.0, 8.0], 0.2, 0.0);
        let most = serial.machines(GOAL).unwrap_err();
        assert!((most / 5_000.0 - 1.0).abs() < 0.01, "γ/α: {most}");
        assert_eq!(serial.machines(Goal { target_per_sec: 3_000.0, ..GOAL }), Ok(6));
    }

    #[test]
    fn the_law_is_followed_beyond_what_was_measured() {
        // 1000·n/(1 + 0.01·(n − 1)) is 10,000 at n = 11.
        assert_eq!(scaling(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.01, 0.0).machines(GOAL), Ok(11));
    }

    #[test]
    fn more_are_planned_than_were_measured_to_carry_less() {
        let few = Scaling::fit(vec![(2.0, 4_000.0), (4.0, 8_000.0), (8.0, 9_000.0)]).unwrap();
        assert_eq!(few.machines(GOAL), Ok(9));
        assert_eq!(few.machines(Goal { target_per_sec: 6_000.0, ..GOAL }), Ok(3));
    }

    fn target(target_per_sec: f64, utilisation: f64) -> Goal {
        Goal { target_per_sec, utilisation }
    }

    #[test]
    fn a_number_that_carried_the_target_is_enough_although_more_carry_less() {
        let falling = Scaling::fit(vec![(2.0, 1_900.0), (4.0, 900.0)]).unwrap();
        let goal = target(950.0, 0.7);
        assert_eq!(falling.machines(goal), Ok(1));
        assert_eq!((falling.fall(goal, 2), falling.contended(goal, 2)), (None, None));
        let falls = Doubt::Falls { few: 2.0, few_per_sec: 1_900.0, many: 4.0, many_per_sec: 900.0 };
        assert_eq!(falling.fall(goal, 5), Some(falls));
        assert!(
            falling.fall(target(2_500.0, 0.7), falling.machines(target(2_500.0, 0.7)).unwrap()).is_some()
        );
        let level = Scaling::fit(vec![(2.0, 1_900.0), (4.0, 1_890.0)]).unwrap();
        assert_eq!(level.fall(target(1_895.0, 1.0), 4), None, "that is no more than measuring is off by");
    }

    #[test]
    fn a_law_that_falls_asks_for_no_more_machines_than_carry_the_target() {
        let points = [1_000.0, 1_754.0, 2_113.0, 2_174.0, 2_083.0, 1_935.0];
        let measured = points.iter().zip(1_u32..).map(|(per_sec, machines)| (f64::from(machines), *per_sec));
        let falling = Scaling::fit(measured.collect()).unwrap();
        assert_eq!(falling.machines(target(2_000.0, 1.0)), Ok(3));
        assert_eq!(falling.fall(target(2_000.0, 1.0), 3), None);
        assert!(matches!(falling.fall(target(2_000.0, 1.0), 9), Some(Doubt::Falls { few: 4.0, .. })));
        assert!(falling.fall(target(1_500.0, 0.7), 5).is_some(), "by the law, at 70 %");
    }

    #[test]
    fn the_whole_number_above_the_top_of_the_law_may_carry_more_than_the_one_below() {
        // The top is at 3.78: three machines carry 2,113/s and four 2,174/s.
        let law = scaling(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0, 0.07);
        assert_eq!(law.machines(target(1_500.0, 0.7)), Ok(4));
        let most = law.machines(target(1_550.0, 0.7)).unwrap_err();
        assert!((most - 0.7 * 2_173.9).abs() < 1.0, "{most}");
    }

    #[test]
    fn the_row_of_the_most_machines_is_predicted_by_the_others() {
        let trial = Scaling::fit(vec![(1.0, 1_000.0), (2.0, 2_000.0), (4.0, 3_000.0)]).unwrap().trial();
        assert_eq!(trial.map(|trial| (trial.predicted_per_sec, trial.ratio())), Some((4_000.0, 0.75)));
        assert_eq!(Scaling::fit(vec![(1.0, 1_000.0), (2.0, 2_000.0)]).unwrap().trial(), None);
    }

    #[test]
    fn two_counts_give_the_contention_and_what_a_third_will_carry() {
        let two = scaling(&[1.0, 2.0], 0.2, 0.0);
        let contention = two.contention().unwrap();
        assert!((contention.alpha - 0.2).abs() < 1e-9 && (contention.gamma - 1_000.0).abs() < 1e-6);
        // 3000/(1 + 0.2·2).
        assert!((two.throughput(3.0).unwrap() - 2_142.857).abs() < 0.01);
        let goal = |target_per_sec: f64| Goal { target_per_sec, utilisation: 1.0 };
        assert!(matches!(two.contended(goal(3_000.0), 3), Some(Doubt::Contended { machines: Some(6), .. })));
        assert!(matches!(two.contended(goal(5_100.0), 6), Some(Doubt::Contended { machines: None, .. })));
        assert_eq!(two.contended(goal(1_600.0), 2), None, "two machines were measured to carry that");
    }

    #[test]
    fn what_was_measured_of_so_many_machines_counts_before_a_law() {
        let falling = Scaling::fit(vec![(2.0, 1_900.0), (4.0, 900.0)]).unwrap();
        assert_eq!(falling.contention(), None, "contention lets nothing fall");
        let carried = |machines: f64| falling.throughput(machines);
        assert_eq!([carried(2.0), carried(4.0)], [Some(1_900.0), Some(900.0)]);
        assert_eq!([carried(3.0), carried(9.0)], [Some(1_900.0), Some(900.0)], "the most that they carry");
        assert_eq!(carried(1.0), None);
        let is_unmeasured = |machines: f64| falling.unmeasured_fall(machines).is_some();
        assert_eq!([1.0, 2.0, 3.0, 4.0, 9.0].map(is_unmeasured), [false, false, true, false, true]);
        let level = Scaling::fit(vec![(1.0, 1_000.0), (2.0, 1_900.0), (3.0, 1_880.0), (6.0, 900.0)]).unwrap();
        assert!(level.unmeasured_fall(5.0).is_some(), "between a level part and a fall");
        assert_eq!(level.throughput(5.0), Some(1_900.0));
        let law = scaling(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0, 0.07);
        // 12,000/(1 + 0.07·132).
        assert!((law.throughput(12.0).unwrap() - 1_171.9).abs() < 1.0 && law.unmeasured_fall(12.0).is_none());
    }

    #[test]
    fn contention_is_that_of_the_machines_before_a_fall() {
        let falling = Scaling::fit(vec![(1.0, 1_000.0), (4.0, 2_000.0), (8.0, 1_000.0)]).unwrap();
        let contention = falling.contention().unwrap();
        assert!((contention.alpha - 1.0 / 3.0).abs() < 1e-9, "{contention:?}");
        assert!((falling.throughput(2.0).unwrap() - 1_500.0).abs() < 1e-6);
        let level = Scaling::fit(vec![(1.0, 1_000.0), (2.0, 1_050.0), (4.0, 1_010.0)]).unwrap();
        let most = level.throughput(8.0).unwrap();
        assert!((1_000.0..1_050.0).contains(&most), "{most}");
        assert!(level.contended(target(1_500.0, 1.0), 5).is_some());
    }

    #[test]
    fn machines_between_the_highest_throughput_and_a_lower_one_carry_no_more_than_the_highest() {
        let falling = Scaling::fit(vec![(2.0, 1_900.0), (4.0, 900.0)]).unwrap();
        assert!(falling.fall(target(1_400.0, 0.7), 3).is_some());
        assert_eq!(falling.fall(target(1_300.0, 0.7), 3), None);
    }

    #[test]
    fn growth_in_proportion_is_no_contention() {
        assert_eq!(scaling(&[1.0, 2.0, 3.0], 0.02, 0.0).contention(), None);
        let more = Scaling::fit(vec![(1.0, 1_000.0), (2.0, 2_300.0)]).unwrap();
        assert_eq!((more.contention(), more.throughput(3.0)), (None, None));
        assert_eq!(
            scaling(&[1.0, 2.0, 3.0, 4.0, 6.0, 8.0], 0.2, 0.0).contention(),
            None,
            "the law is fitted"
        );
    }
}
