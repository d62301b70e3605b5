//! How throughput followed the number of a tier's machines.

use super::doubt::Doubt;
use super::terms::Goal;
use plimsoll_stats::usl::{Point, Usl, UslFit, fit};

/// What is planned beyond so many times the most machines that were measured is not founded on them.
const MAX_EXTRAPOLATION: f64 = 2.0;
/// No plan has more machines than these.
const MAX_MACHINES: u64 = 1_000_000;

/// Growth by more than in proportion, beyond what measuring is off by.
const MAX_PROPORTIONAL: f64 = 1.1;

/// Less contention than this is not distinguished from none: two throughputs, each known to 2 %, give it to ±0.04.
const MIN_CONTENTION: f64 = 0.05;

/// Throughput over the number of machines of one tier, where it was this tier that limited.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The number of the requests that it is of.
    pub kind: usize,
    /// Machines and requests per second, the fewest machines first.
    pub points: Vec<(f64, f64)>,
    /// The Universal Scalability Law over machines, where six counts or more were measured and it fits.
    pub usl: Option<Usl>,
}

/// X(n) = γn/(1 + α(n − 1)), Amdahl's law as Gunther writes it: the law of scalability without coherence, which two counts
/// suffice for. n/X = (1 − α)/γ + (α/γ)·n is a line over n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// Requests per second of one machine.
    pub gamma: f64,
    /// The part of the work that machines do one after another, from 0 to 1.
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
        let (alpha_over_gamma, rest) =
            if contended { (slope, mean_y - slope * mean_n) } else { (0.0, mean_y) };
        // A line through less than nothing would be more contention than there is work.
        let rest = rest.max(0.0);
        let gamma = 1.0 / (alpha_over_gamma + rest);
        let known = gamma.is_finite() && gamma > 0.0;
        known.then(|| Self { gamma, alpha: (alpha_over_gamma * gamma).min(1.0) })
    }

    /// Requests per second of so many machines.
    pub fn throughput(&self, machines: f64) -> f64 {
        self.gamma * machines / (1.0 + self.alpha * (machines - 1.0))
    }

    /// The fewest machines whose throughput is this; `None` if no number is enough.
    fn machines(&self, per_sec: f64) -> Option<u64> {
        let left = self.gamma - self.alpha * per_sec;
        (left > 0.0).then(|| (per_sec * (1.0 - self.alpha) / left).ceil().max(1.0) as u64)
    }
}

/// The row of the most machines, left out and predicted by the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingTrial {
    pub machines: f64,
    pub predicted_per_sec: f64,
    pub measured_per_sec: f64,
}

impl ScalingTrial {
    /// What was measured over what was predicted.
    pub fn ratio(&self) -> f64 {
        self.measured_per_sec / self.predicted_per_sec
    }
}

fn points(measured: &[(f64, f64)]) -> Vec<Point> {
    let point =
        |(machines, per_sec): &(f64, f64)| Point { size: *machines, throughput: *per_sec, interval: None };
    measured.iter().map(point).collect()
}

impl Scaling {
    /// The scaling by these points; of several of one count the highest is taken. `None` for fewer than two counts.
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
        Some(Self { kind: 0, points: measured, usl })
    }

    /// The same of requests of this number.
    pub(super) fn of_kind(self, kind: usize) -> Self {
        Self { kind, ..self }
    }

    /// The contention between machines, from fewer counts than the law of scalability takes; `None` where that is fitted, and where
    /// throughput grew in proportion as far as a measurement tells.
    pub fn contention(&self) -> Option<Contention> {
        let contention = Contention::fit(&self.points).filter(|_| self.usl.is_none());
        contention.filter(|contention| contention.alpha >= MIN_CONTENTION)
    }

    /// Requests per second of so many machines, by the law or the contention that was measured; `None` where growth was in
    /// proportion, and where throughput grew by more.
    pub(super) fn throughput(&self, machines: f64) -> Option<f64> {
        let by_law = self.usl.map(|usl| usl.throughput(machines.min(usl.top())));
        by_law.or_else(|| Some(self.contention()?.throughput(machines)))
    }

    /// Throughput a machine with the most of them over that with the fewest: 1 for growth in proportion.
    pub fn efficiency(&self) -> f64 {
        let each = |point: Option<&(f64, f64)>| point.map_or(1.0, |(machines, per_sec)| per_sec / machines);
        each(self.points.last()) / each(self.points.first())
    }

    /// The fewest and the most machines that were measured.
    pub fn span(&self) -> (f64, f64) {
        let machines = |point: Option<&(f64, f64)>| point.map_or(0.0, |point| point.0);
        (machines(self.points.first()), machines(self.points.last()))
    }

    /// The fewest machines that carry the target at the utilisation of the goal: by the law where there is one, and more than
    /// any number that was measured to carry less. `Err` is the most that the law allows, if that is less than the target.
    pub(super) fn machines(&self, goal: Goal) -> Result<u64, f64> {
        let is_less = |point: &&(f64, f64)| point.1 < goal.target_per_sec;
        let too_few = self.points.iter().filter(is_less).map(|point| point.0).fold(0.0, f64::max);
        let least = too_few.floor() as u64 + 1;
        let Some(usl) = self.usl else { return Ok(least) };
        let carries =
            |machines: u64| usl.throughput(machines as f64) * goal.utilisation >= goal.target_per_sec;
        let top = usl.top().floor().min(MAX_MACHINES as f64) as u64;
        if !carries(top.max(1)) {
            return Err(usl.highest() * goal.utilisation);
        }
        // Up to its top the law rises, so that the first that carries the target is found by halving.
        let (mut below, mut enough) = (0, top.max(1));
        while enough - below > 1 {
            let middle = below.midpoint(enough);
            if carries(middle) { enough = middle } else { below = middle }
        }
        Ok(enough.max(least))
    }

    /// What the others say of the most machines that were measured: by growth in proportion from the number before, or by the
    /// law where there are enough. `None` for fewer than three numbers.
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

    /// The machines that the target takes if they contend beyond what was measured as they do within it, where that is more than
    /// this count.
    pub(super) fn contended(&self, goal: Goal, count: u64) -> Option<Doubt> {
        let contention = self.contention()?;
        let machines = contention.machines(goal.target_per_sec / goal.utilisation);
        let (few, most) = self.span();
        let alpha = contention.alpha;
        machines.is_none_or(|machines| machines > count).then_some(Doubt::Contended {
            few,
            most,
            alpha,
            machines,
        })
    }

    /// What is to be said of a count of machines by what was measured.
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
